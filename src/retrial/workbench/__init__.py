"""Any command as the judge of a project: replies applied to a copy of it, what must not change restored, its report."""
