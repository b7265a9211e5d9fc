#!/bin/sh
# Pin every dependency with its hashes, for every platform and Python from 3.11 on. No index is written down.
set -eu
.venv/bin/python -m pip install --quiet uv
options="--quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate"
printf 'editables>=0.5\nhatchling>=1.27\n' | .venv/bin/uv pip compile $options pyproject.toml - -o requirements/base.txt
.venv/bin/uv pip compile $options --extra openai --extra anthropic --extra google --extra dev pyproject.toml -o requirements/dev.txt
