-- An approval whose run ended before anybody answered.
ALTER TABLE approval ADD COLUMN withdrawn_at timestamptz;

-- By when they expire: what expired unanswered stays in the table and is not looked at again.
DROP INDEX approval_pending;
CREATE INDEX approval_pending ON approval (organization, expires_at) WHERE answer IS NULL AND withdrawn_at IS NULL;

-- NOT VALID: every row that is there fits the narrower rule of before, so none has to be read again.
ALTER TABLE audit_event DROP CONSTRAINT audit_event_kind_check;
ALTER TABLE audit_event ADD CONSTRAINT audit_event_kind_check
  CHECK (kind IN ('intent', 'outcome', 'approval_requested', 'approval_answered', 'approval_withdrawn', 'audit_read')) NOT VALID;
