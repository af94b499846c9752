-- Chosen by who answered: the same answer with it comes to the same once more.
ALTER TABLE approval ADD COLUMN answer_key uuid;
-- Pages of approvals in whatever state, in the order in which they were asked.
CREATE INDEX approval_requested ON approval (organization, requested_at, approval_id);
