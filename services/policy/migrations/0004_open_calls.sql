-- Up to which event it is known that every allowed call has its outcome.
CREATE TABLE outcome_sweep (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  until_id bigint NOT NULL
);
INSERT INTO outcome_sweep (until_id) VALUES (0);
GRANT SELECT, UPDATE ON outcome_sweep TO hlvm_policy;
