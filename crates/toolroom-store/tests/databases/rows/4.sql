-- Rows of the fourth schema: a program whose process died.
INSERT INTO programs (number, project, user_id, thread, command, state, exit_code, instance, began_at)
VALUES (1, 'local', NULL, NULL, 'sleep 1', 'finished', 0, 'ins_1', 1700000000000000);
UPDATE revisions SET value = 1 WHERE name = 'programs';
