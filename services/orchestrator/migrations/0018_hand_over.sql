-- Under whom the sandbox knows the workspace, where that is not the owner any more.
ALTER TABLE session ADD COLUMN workspace_owner text;
-- 4 own: it is theirs as soon as they take it.
ALTER TABLE session_grant DROP CONSTRAINT session_grant_level_check;
ALTER TABLE session_grant ADD CONSTRAINT session_grant_level_check CHECK (level BETWEEN 1 AND 4);
