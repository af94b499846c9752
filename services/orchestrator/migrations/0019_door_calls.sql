-- Model calls that belong to no run: programs make them through the edge's model doors. What budgets they count against is
-- reserved and settled as a run's calls are (0012_budgets.sql), in the same order of locks.
ALTER TABLE model_call ALTER COLUMN session_id DROP NOT NULL;
ALTER TABLE model_call ALTER COLUMN run_id DROP NOT NULL;
-- The access token that a program called with.
ALTER TABLE model_call ADD COLUMN token_id text;
-- As hlvm.session.v1.ModelDoor has it.
ALTER TABLE model_call ADD COLUMN door smallint;

-- Calls under way. What was seen of each is written down again and again: where its process ends, it is settled by that.
CREATE TABLE door_call (
  call_id uuid PRIMARY KEY,
  organization text NOT NULL,
  principal text NOT NULL,
  teams text[] NOT NULL,
  -- Empty where a person's login called.
  token_id text NOT NULL,
  door smallint NOT NULL,
  model text NOT NULL,
  -- What the edge signed for it: with it another process has a lost call recorded.
  delegation text NOT NULL,
  began timestamptz NOT NULL DEFAULT now(),
  -- From then on its process is taken for dead.
  until timestamptz NOT NULL,
  -- Estimated.
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL DEFAULT 0,
  cost bigint
) WITH (fillfactor = 50);
CREATE INDEX door_call_by_until ON door_call (until);

-- Locks the budgets that a call counts against, those that it has reserved of included; what another period used is forgotten.
CREATE FUNCTION lock_door_budgets(one door_call) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  locked bigint[];
BEGIN
  SELECT array_agg(mine.budget_id) INTO locked FROM (
    SELECT budget.budget_id FROM budget WHERE budget.budget_id IN (
      SELECT known.budget_id FROM (
        VALUES (1, ''), (3, one.principal), (6, one.token_id)
        UNION ALL SELECT 2, unnest(one.teams)
      ) AS wanted (scope, subject)
      JOIN budget known ON known.organization = one.organization AND known.scope = wanted.scope AND known.subject = wanted.subject
      UNION ALL
      SELECT budget_reservation.budget_id FROM budget_reservation WHERE run_id = one.call_id
    ) ORDER BY budget.budget_id FOR NO KEY UPDATE
  ) AS mine;
  UPDATE budget SET used = 0, began = period_begin(period) WHERE budget_id = ANY (locked) AND began < period_begin(period);
  RETURN locked;
END
$$;

-- Puts a call on record and reserves for it, as reserve_budgets does for a run's; nothing of either where a budget refuses.
CREATE FUNCTION begin_door_call(
  one door_call, needed bigint[], wished bigint[], OUT granted bigint[], OUT is_refused boolean, OUT named jsonb
) LANGUAGE plpgsql AS $$
DECLARE
  mine bigint[];
BEGIN
  -- Settling is what is durable, and makes this so too; a database that fails before takes the call and its reservation with it.
  PERFORM set_config('synchronous_commit', 'off', true);
  granted := wished;
  mine := lock_door_budgets(one);
  SELECT jsonb_build_array(told_budget(budget)) INTO named FROM budget
  WHERE budget_id = ANY (mine) AND (needed[kind] IS NULL OR amount - used - reserved < needed[kind]) ORDER BY scope, budget_id LIMIT 1;
  is_refused := named IS NOT NULL;
  IF is_refused THEN
    RETURN;
  END IF;
  INSERT INTO door_call SELECT one.*;
  IF mine IS NULL THEN
    RETURN;
  END IF;
  SELECT jsonb_agg(told_budget(budget) ORDER BY amount - used - reserved) INTO named FROM budget
  WHERE budget_id = ANY (mine) AND amount - used - reserved < wished[kind];
  FOR this IN 1..4 LOOP
    granted[this] := least(wished[this], (SELECT min(amount - used - reserved) FROM budget WHERE budget_id = ANY (mine) AND kind = this));
  END LOOP;
  INSERT INTO budget_reservation (run_id, budget_id, is_carved, amount)
  SELECT one.call_id, budget_id, false, granted[kind] FROM budget WHERE budget_id = ANY (mine) AND kind <> 4;
  UPDATE budget SET reserved = reserved + granted[kind] WHERE budget_id = ANY (mine) AND kind <> 4;
END
$$;

-- Settles a call, once: what was reserved is given back, what it used counts and is on record. Without `used` nothing came of it.
-- False where it is settled already.
CREATE FUNCTION settle_door_call(id uuid, used_up jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  one door_call;
  mine bigint[];
  spent bigint[];
BEGIN
  DELETE FROM door_call WHERE call_id = id RETURNING * INTO one;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF used_up IS NOT NULL THEN
    INSERT INTO model_call (organization, principal, token_id, door, turn, model, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, reasoning_tokens, cost, input_cost, is_estimated)
    SELECT one.organization, one.principal, nullif(one.token_id, ''), one.door, 1, one.model, call.*
    FROM jsonb_to_record(used_up) AS call (input bigint, output bigint, "cacheRead" bigint, "cacheWrite" bigint, reasoning bigint,
      cost bigint, "inputCost" bigint, "isEstimated" boolean);
  END IF;
  mine := lock_door_budgets(one);
  IF mine IS NULL THEN
    RETURN true;
  END IF;
  PERFORM drop_reservations(ARRAY[id]);
  IF used_up IS NOT NULL THEN
    spent := ARRAY[(used_up ->> 'tokens')::bigint, coalesce((used_up ->> 'cost')::bigint, 0), 1, (used_up ->> 'milliseconds')::bigint];
    UPDATE budget SET used = used + spent[kind] WHERE budget_id = ANY (mine);
  END IF;
  RETURN true;
END
$$;
