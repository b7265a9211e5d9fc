-- The database of the example: sqlite3 school.db < school.sql
CREATE TABLE students (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
CREATE TABLE courses (id INTEGER PRIMARY KEY, title TEXT NOT NULL, fee INTEGER NOT NULL);
CREATE TABLE enrolments (
    id INTEGER PRIMARY KEY,
    student_id INTEGER NOT NULL REFERENCES students (id),
    course_id INTEGER NOT NULL REFERENCES courses (id),
    enrolled_on TEXT NOT NULL,
    grade INTEGER
);
INSERT INTO students VALUES (1, 'Asha Rao', 'Pune'), (2, 'Kabir Mehta', 'Delhi'), (3, 'Lena D''Souza', 'Goa'),
    (4, 'Ravi Iyer', 'Pune'), (5, 'Zoya Khan', 'Delhi');
INSERT INTO courses VALUES (1, 'Python for Beginners', 4500), (2, 'Data Structures', 6000), (3, 'Django REST', 5250);
INSERT INTO enrolments VALUES
    (1, 1, 1, '2025-01-10', 88), (2, 1, 2, '2025-03-02', NULL), (3, 2, 2, '2025-02-11', 71),
    (4, 3, 1, '2025-01-20', 93), (5, 3, 3, '2025-04-05', 85), (6, 3, 2, '2025-06-01', NULL), (7, 4, 1, '2025-05-15', NULL);
