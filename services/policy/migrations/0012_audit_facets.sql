-- What else of the record events are found and counted by: made of the record by PostgreSQL, so that the two cannot differ, and
-- that nobody can set them. Adding them writes the table anew once, during which nothing can be appended: about 10 s for a million
-- events.
ALTER TABLE audit_event
  ADD COLUMN safety_level text GENERATED ALWAYS AS (payload::json->>'safetyLevel') STORED,
  ADD COLUMN mode text GENERATED ALWAYS AS (payload::json->>'mode') STORED,
  ADD COLUMN rule text GENERATED ALWAYS AS (payload::json->>'rule') STORED,
  ADD COLUMN outcome text GENERATED ALWAYS AS (payload::json->>'outcome') STORED;

-- Holds what the usual counts need, so that the records are not read for them.
CREATE INDEX audit_event_facets ON audit_event (organization, kind, at) INCLUDE (tool, principal, decision, step, safety_level);
-- Rare results among many calls.
CREATE INDEX audit_event_outcome_found ON audit_event (organization, outcome, id) WHERE kind = 'outcome';
CREATE INDEX audit_event_level ON audit_event (organization, safety_level, id) WHERE kind = 'intent';
CREATE INDEX audit_event_decision ON audit_event (organization, decision, step, id) WHERE kind = 'intent';
