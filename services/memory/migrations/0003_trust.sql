-- Who said it, where in its source, and when; who vouches for it since when; and of proposals what became of them.
ALTER TABLE fact
  ADD COLUMN actor text NOT NULL DEFAULT '',
  ADD COLUMN source_ordinal integer CHECK (source_ordinal >= 0),
  ADD COLUMN said_at timestamptz,
  ADD COLUMN validated_at timestamptz,
  -- A proposal is a fact that never held: it ended when it was written.
  ADD COLUMN proposal text CHECK (proposal IN ('waiting', 'accepted', 'rejected')),
  ADD COLUMN proposal_of uuid REFERENCES fact,
  ADD COLUMN proposes_end boolean NOT NULL DEFAULT false,
  ADD CHECK (proposal IS NULL OR valid_to IS NOT NULL),
  ADD CHECK (valid_to >= valid_from) NOT VALID;
CREATE INDEX fact_proposal ON fact (audience, valid_from, fact_id) WHERE proposal = 'waiting';

ALTER TABLE fact_change DROP CONSTRAINT fact_change_kind_check;
ALTER TABLE fact_change ADD CONSTRAINT fact_change_kind_check
  CHECK (kind IN ('written', 'replaced', 'ended', 'pinned', 'unpinned', 'undone', 'proposed', 'accepted', 'rejected'));
-- What a change made of proposals.
ALTER TABLE fact_change_part
  ADD COLUMN was_proposal text,
  ADD COLUMN became_proposal text;
