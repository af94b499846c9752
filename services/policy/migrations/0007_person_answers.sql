-- Questions and plans are put to a person as actions are, and answered with words. Rows of a release that does not know them are actions.
ALTER TABLE approval
  ADD COLUMN kind text NOT NULL DEFAULT 'action' CHECK (kind IN ('action', 'plan', 'question')),
  -- Of a plan: under which it was made, as the edge signed them.
  ADD COLUMN settings jsonb,
  ADD COLUMN answer_text text,
  -- Of a plan that was accepted: the mode in which its run goes on, and the edge's signature for it.
  ADD COLUMN answer_mode text,
  ADD COLUMN answer_delegation text;
