-- What may be used: tokens (1), nano-dollars (2), model calls (3), milliseconds (4). Scopes and periods have the numbers of
-- hlvm.session.v1. All functions lock the budgets that they change in the order of their ids, after the run's row.
CREATE TABLE budget (
  budget_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization text NOT NULL,
  scope smallint NOT NULL,
  -- Of the organization empty, of a session and a run its id.
  subject text NOT NULL,
  kind smallint NOT NULL CHECK (kind BETWEEN 1 AND 4),
  period smallint NOT NULL,
  -- Of a session or a run: it goes with it.
  session_id uuid REFERENCES session ON DELETE CASCADE,
  amount bigint NOT NULL CHECK (amount >= 0),
  used bigint NOT NULL DEFAULT 0 CHECK (used >= 0),
  reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  -- The period that `used` is of.
  began timestamptz NOT NULL,
  UNIQUE (organization, scope, subject, kind, period)
) WITH (fillfactor = 50);
CREATE INDEX budget_by_session ON budget (session_id) WHERE session_id IS NOT NULL;

-- A run has one model call under way at most; what is carved out for a child run is held in the child's name.
CREATE TABLE budget_reservation (
  run_id uuid NOT NULL,
  budget_id bigint NOT NULL REFERENCES budget ON DELETE CASCADE,
  is_carved boolean NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (run_id, budget_id, is_carved)
);
CREATE INDEX budget_reservation_by_budget ON budget_reservation (budget_id);

-- Every model call that was settled. It outlives its session: what was spent stays spent.
CREATE TABLE model_call (
  call_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization text NOT NULL,
  principal text NOT NULL,
  session_id uuid NOT NULL,
  run_id uuid NOT NULL,
  turn integer NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  model text NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cache_read_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  -- Nano-dollars; null where nobody knows the price.
  cost bigint,
  -- Of that, what the input cost.
  input_cost bigint,
  is_estimated boolean NOT NULL,
  -- Estimated tokens of results that this call read first, by tool.
  tool_tokens jsonb
);
CREATE INDEX model_call_by_principal ON model_call (organization, principal, at);
CREATE INDEX model_call_by_time ON model_call (organization, at);

ALTER TABLE session ADD COLUMN cost bigint NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN unpriced_calls integer NOT NULL DEFAULT 0;

CREATE FUNCTION period_begin(period smallint) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE period WHEN 2 THEN date_trunc('day', now(), 'UTC') WHEN 3 THEN date_trunc('month', now(), 'UTC') ELSE '-infinity' END
$$;

-- Locks the budgets that a run's model call counts against, those that it has reserved of included; what another period used
-- is forgotten.
CREATE FUNCTION lock_run_budgets(holder uuid, teams text[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  locked bigint[];
BEGIN
  SELECT array_agg(mine.budget_id) INTO locked FROM (
    SELECT budget.budget_id FROM budget WHERE budget.budget_id IN (
      SELECT one.budget_id FROM run JOIN session USING (session_id)
      CROSS JOIN LATERAL (
        VALUES (1, ''), (3, run.principal), (4, coalesce(session.work_session_id, run.session_id)::text), (5, run.run_id::text)
        UNION ALL SELECT 2, unnest(teams)
      ) AS wanted (scope, subject)
      JOIN budget one ON one.organization = session.organization AND one.scope = wanted.scope AND one.subject = wanted.subject
      WHERE run.run_id = holder
      UNION ALL
      SELECT budget_reservation.budget_id FROM budget_reservation WHERE run_id = holder AND NOT is_carved
    ) ORDER BY budget.budget_id FOR NO KEY UPDATE
  ) AS mine;
  UPDATE budget SET used = 0, began = period_begin(period) WHERE budget_id = ANY (locked) AND began < period_begin(period);
  RETURN locked;
END
$$;

-- Gives back what a run has reserved for a call. Its budgets are locked.
CREATE FUNCTION drop_reservations(holders uuid[]) RETURNS void LANGUAGE sql AS $$
  WITH dropped AS (DELETE FROM budget_reservation WHERE run_id = ANY (holders) AND NOT is_carved RETURNING budget_id, amount),
  summed AS (SELECT budget_id, sum(amount)::bigint AS amount FROM dropped GROUP BY budget_id)
  UPDATE budget SET reserved = reserved - summed.amount FROM summed WHERE budget.budget_id = summed.budget_id
$$;

-- Numbers as texts, since JSON's are not whole everywhere.
CREATE FUNCTION told_budget(one budget) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('scope', one.scope, 'subject', one.subject, 'kind', one.kind, 'period', one.period,
    'amount', one.amount::text, 'used', one.used::text, 'reserved', one.reserved::text)
$$;

-- Reserves for a model call, of every budget that counts, what is wished for by kind, or what is left where that is all that is
-- needed. Time is not reserved: only what is left of it is told. A kind without `needed` cannot be counted.
-- What an earlier call of the run left behind, whose process ended, is given back first. `named` is the budget that refuses, or
-- those that give less than is wished for.
CREATE FUNCTION reserve_budgets(
  holder uuid, claim uuid, teams text[], needed bigint[], wished bigint[],
  OUT is_held boolean, OUT granted bigint[], OUT is_refused boolean, OUT named jsonb
) LANGUAGE plpgsql AS $$
DECLARE
  mine bigint[];
BEGIN
  granted := wished;
  PERFORM FROM run WHERE run_id = holder AND lease_owner = claim AND ended_at IS NULL FOR SHARE;
  is_held := FOUND;
  IF NOT is_held THEN
    RETURN;
  END IF;
  mine := lock_run_budgets(holder, teams);
  PERFORM drop_reservations(ARRAY[holder]);
  SELECT jsonb_build_array(told_budget(budget)) INTO named FROM budget
  WHERE budget_id = ANY (mine) AND (needed[kind] IS NULL OR amount - used - reserved < needed[kind]) ORDER BY scope, budget_id LIMIT 1;
  is_refused := named IS NOT NULL;
  IF is_refused THEN
    RETURN;
  END IF;
  SELECT jsonb_agg(told_budget(budget) ORDER BY amount - used - reserved) INTO named FROM budget
  WHERE budget_id = ANY (mine) AND amount - used - reserved < wished[kind];
  FOR one IN 1..4 LOOP
    granted[one] := least(wished[one], (SELECT min(amount - used - reserved) FROM budget WHERE budget_id = ANY (mine) AND kind = one));
  END LOOP;
  INSERT INTO budget_reservation (run_id, budget_id, is_carved, amount)
  SELECT holder, budget_id, false, granted[kind] FROM budget WHERE budget_id = ANY (mine) AND kind <> 4;
  UPDATE budget SET reserved = reserved + granted[kind] WHERE budget_id = ANY (mine) AND kind <> 4;
END
$$;

-- Settles calls of a run: what was reserved is given back, what was used counts, and the calls are on record.
CREATE FUNCTION settle_calls(holder uuid, teams text[], calls jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  mine bigint[];
  spent bigint[];
BEGIN
  IF jsonb_array_length(calls) = 0 THEN
    RETURN;
  END IF;
  INSERT INTO model_call (organization, principal, session_id, run_id, turn, model, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, cost, input_cost, is_estimated, tool_tokens)
  SELECT organization, principal, session_id, run_id, call.*
  FROM run JOIN session USING (session_id), jsonb_to_recordset(calls) AS call (turn integer, model text, input bigint, output bigint,
    "cacheRead" bigint, "cacheWrite" bigint, reasoning bigint, cost bigint, "inputCost" bigint, "isEstimated" boolean, "toolTokens" jsonb)
  WHERE run.run_id = holder;
  -- Every answer of every run comes by here, and mostly nothing is limited.
  IF NOT EXISTS (SELECT FROM budget) THEN
    RETURN;
  END IF;
  mine := lock_run_budgets(holder, teams);
  IF mine IS NULL THEN
    RETURN;
  END IF;
  PERFORM drop_reservations(ARRAY[holder]);
  SELECT ARRAY[sum(tokens), coalesce(sum(cost), 0), count(*), sum(milliseconds)] INTO spent
  FROM jsonb_to_recordset(calls) AS call (tokens bigint, cost bigint, milliseconds bigint);
  UPDATE budget SET used = used + spent[kind] WHERE budget_id = ANY (mine);
END
$$;

-- What runs that another process holds now had reserved for a call whose end nobody saw.
CREATE FUNCTION free_reservations(holders uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM budget WHERE budget_id IN (SELECT budget_id FROM budget_reservation WHERE run_id = ANY (holders) AND NOT is_carved)
  ORDER BY budget_id FOR NO KEY UPDATE;
  PERFORM drop_reservations(holders);
END
$$;

-- Takes amounts out of a run's budget for a child run, which gets a budget of them; of a kind without an amount one of so many
-- equal shares of what is left. What the parent has no budget of is the child's limit alone. Done once: the same child again changes nothing.
CREATE FUNCTION carve_budget(parent uuid, child uuid, amounts bigint[], shares integer) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  refused_by jsonb;
BEGIN
  PERFORM FROM budget WHERE scope = 5 AND subject = parent::text ORDER BY budget_id FOR NO KEY UPDATE;
  IF EXISTS (SELECT FROM budget WHERE scope = 5 AND subject = child::text) THEN
    RETURN NULL;
  END IF;
  SELECT told_budget(budget) INTO refused_by FROM budget WHERE scope = 5 AND subject = parent::text
    AND amount - used - reserved < greatest(coalesce(amounts[kind], shares), 1) ORDER BY budget_id LIMIT 1;
  IF refused_by IS NOT NULL THEN
    RETURN refused_by;
  END IF;
  INSERT INTO budget_reservation (run_id, budget_id, is_carved, amount)
  SELECT child, budget_id, true, coalesce(amounts[kind], (amount - used - reserved) / shares) FROM budget WHERE scope = 5 AND subject = parent::text;
  UPDATE budget SET reserved = reserved + carved.amount FROM budget_reservation AS carved
  WHERE carved.run_id = child AND carved.is_carved AND carved.budget_id = budget.budget_id;
  INSERT INTO budget (organization, scope, subject, kind, period, session_id, amount, began)
  SELECT session.organization, 5, child::text, wanted.kind, 1, run.session_id, coalesce(carved.amount, amounts[wanted.kind]), '-infinity'
  FROM run JOIN session USING (session_id) CROSS JOIN generate_series(1, 3) AS wanted (kind)
  LEFT JOIN (
    SELECT budget.kind, reservation.amount FROM budget_reservation reservation JOIN budget USING (budget_id)
    WHERE reservation.run_id = child AND is_carved
  ) AS carved USING (kind)
  WHERE run.run_id = parent AND coalesce(carved.amount, amounts[wanted.kind]) IS NOT NULL;
  RETURN NULL;
END
$$;

-- Ends the budgets of runs that are over: what a run had carved out of its parent's goes back there, less what it used; what a
-- child of its own still has counts as used.
CREATE FUNCTION close_budgets(holders uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM budget WHERE budget_id IN (
    SELECT budget_id FROM budget_reservation WHERE run_id = ANY (holders)
    UNION ALL SELECT budget_id FROM budget WHERE scope = 5 AND subject = ANY (holders::text[])
  ) ORDER BY budget_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  PERFORM drop_reservations(holders);
  UPDATE budget SET reserved = budget.reserved - back.amount, used = budget.used + back.used FROM (
    SELECT carved.budget_id, sum(carved.amount)::bigint AS amount, sum(coalesce(own.used + own.reserved, 0))::bigint AS used
    FROM budget_reservation carved JOIN budget parent USING (budget_id)
    LEFT JOIN budget own ON own.scope = 5 AND own.subject = carved.run_id::text AND own.kind = parent.kind
    WHERE carved.run_id = ANY (holders) AND carved.is_carved GROUP BY carved.budget_id
  ) AS back WHERE budget.budget_id = back.budget_id;
  DELETE FROM budget_reservation WHERE run_id = ANY (holders) AND is_carved;
  DELETE FROM budget WHERE scope = 5 AND subject = ANY (holders::text[]);
END
$$;
CREATE INDEX budget_of_run ON budget (subject) WHERE scope = 5;
