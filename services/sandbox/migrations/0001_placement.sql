-- The processes of this service. One statement a second renews a lease, however many sessions it stands for.
CREATE TABLE replica (
  name text PRIMARY KEY,
  -- The URL under which the other services reach exactly this replica.
  address text NOT NULL,
  -- Made anew by each process: one whose name another has taken renews nothing any more.
  incarnation uuid NOT NULL,
  -- Its state directory, where the receipts are: the replicas of one machine may share it.
  volume uuid NOT NULL,
  lease_until timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE placement (
  session_id uuid PRIMARY KEY,
  organization text NOT NULL,
  owner text NOT NULL,
  replica text NOT NULL,
  volume uuid NOT NULL,
  -- Grows each time that another replica takes the session.
  epoch bigint NOT NULL,
  workspace text NOT NULL,
  -- Device and inode of the workspace, which mean something on that replica's machine alone.
  folder text NOT NULL,
  -- Earlier calls are in the receipts of another volume.
  receipts_elsewhere boolean NOT NULL,
  opened_at timestamptz NOT NULL DEFAULT now(),
  used_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX placement_by_use ON placement (used_at);

-- A function, because each of its statements sees what was committed before that statement: between two replicas that claim at
-- once, the second sees the lease of the first as it is after its wait for the row.
CREATE FUNCTION claim_session(
  claimed_session uuid,
  claimed_organization text,
  claimed_owner text,
  claiming_incarnation uuid,
  claimed_workspace text,
  claimed_folder text
) RETURNS TABLE (outcome text, holder text, address text, epoch bigint, workspace text, receipts_elsewhere boolean)
LANGUAGE plpgsql AS $$
DECLARE
  mine replica;
  held placement;
  other replica;
BEGIN
  SELECT * INTO mine FROM replica r WHERE r.incarnation = claiming_incarnation AND r.lease_until > now();
  IF mine.name IS NULL THEN
    RETURN QUERY SELECT 'no_lease', '', '', 0::bigint, '', false;
    RETURN;
  END IF;

  -- The update changes nothing; it waits for, and keeps, the row that is there.
  INSERT INTO placement AS p (session_id, organization, owner, replica, volume, epoch, workspace, folder, receipts_elsewhere)
  VALUES (claimed_session, claimed_organization, claimed_owner, mine.name, mine.volume, 1, claimed_workspace, claimed_folder, false)
  ON CONFLICT (session_id) DO UPDATE SET used_at = p.used_at
  RETURNING p.* INTO held;

  IF (held.organization, held.owner) <> (claimed_organization, claimed_owner) THEN
    RETURN QUERY SELECT 'foreign', '', '', 0::bigint, '', false;
    RETURN;
  END IF;

  IF held.replica <> mine.name THEN
    SELECT * INTO other FROM replica r WHERE r.name = held.replica AND r.lease_until > now();
    IF other.name IS NOT NULL THEN
      RETURN QUERY SELECT 'elsewhere', other.name, other.address, held.epoch, held.workspace, false;
      RETURN;
    END IF;
  END IF;

  IF held.workspace <> claimed_workspace THEN
    RETURN QUERY SELECT 'bound', held.replica, '', held.epoch, held.workspace, false;
    RETURN;
  END IF;
  IF held.replica <> mine.name AND held.volume <> mine.volume AND held.folder <> claimed_folder THEN
    RETURN QUERY SELECT 'unreachable', held.replica, '', held.epoch, held.workspace, false;
    RETURN;
  END IF;

  RETURN QUERY
    UPDATE placement p
    SET replica = mine.name,
        volume = mine.volume,
        epoch = p.epoch + (p.replica <> mine.name)::int,
        folder = claimed_folder,
        receipts_elsewhere = p.receipts_elsewhere OR p.volume <> mine.volume,
        opened_at = CASE WHEN p.replica = mine.name THEN p.opened_at ELSE now() END,
        used_at = now()
    WHERE p.session_id = claimed_session
    RETURNING 'mine', p.replica, mine.address, p.epoch, p.workspace, p.receipts_elsewhere;
END
$$;
