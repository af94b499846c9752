import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { TeamService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { SessionRight, SharingService } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { useState } from "react";
import { useClient } from "../../api/use-client.ts";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";

const HOUR_MILLISECONDS = 3_600_000;
const RIGHTS: readonly (readonly [SessionRight, string])[] = [
  [SessionRight.VIEW, "may read it"],
  [SessionRight.COMMENT, "may read it and comment"],
  [SessionRight.DRIVE, "drives it"],
  [SessionRight.OWN, "takes it over"],
];
const HOURS: readonly (readonly [number, string])[] = [
  [0, "for good"],
  [8, "for 8 hours"],
  [7 * 24, "for a week"],
];
const PERSON = "person";
const EVERYBODY = "everybody";

/** Shares a session of one's own with a person, a team or everybody. */
export function ShareForm({ sessionId, onShared }: { readonly sessionId: string; readonly onShared: () => void }) {
  const sharing = useClient(SharingService);
  const teams = useClient(TeamService);
  const known = useCall("teams", (signal) => teams.listTeams({}, { signal }));
  const [whom, setWhom] = useState(PERSON);
  const [name, setName] = useState("");
  const [right, setRight] = useState<SessionRight>(SessionRight.VIEW);
  const [hours, setHours] = useState(0);
  const share = useAction(async () => {
    const until = hours === 0 ? undefined : timestampFromMs(Date.now() + hours * HOUR_MILLISECONDS);
    await sharing.putGrant({ sessionId, grant: { to: granteeOf(whom, name.trim()), right, until } });
    setName("");
    onShared();
  });
  const isPerson = whom === PERSON;
  return (
    <form
      className={table.form}
      aria-label="Share it"
      onSubmit={(event) => {
        event.preventDefault();
        share.run();
      }}
    >
      <select className={table.input} aria-label="Share with" value={whom} onChange={(event) => setWhom(event.target.value)}>
        <option value={PERSON}>a person</option>
        {known.value?.teams.map((team) => (
          <option key={team.name} value={`team:${team.name}`}>
            team {team.name}
          </option>
        ))}
        <option value={EVERYBODY}>everybody in the organization</option>
      </select>
      {isPerson ? (
        <input
          className={`${table.input} ${table.wide}`}
          aria-label="Whom"
          placeholder="ada@acme.example"
          required
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      ) : null}
      <select
        className={table.input}
        aria-label="What they may"
        value={right}
        onChange={(event) => setRight(Number(event.target.value) as SessionRight)}
      >
        {RIGHTS.filter(([one]) => isPerson || one !== SessionRight.OWN).map(([one, word]) => (
          <option key={one} value={one}>
            {word}
          </option>
        ))}
      </select>
      <select className={table.input} aria-label="How long" value={hours} onChange={(event) => setHours(Number(event.target.value))}>
        {HOURS.map(([one, word]) => (
          <option key={one} value={one}>
            {word}
          </option>
        ))}
      </select>
      <Button type="submit" look="primary" disabled={share.isBusy || (isPerson && name.trim() === "")}>
        Share
      </Button>
      <TroubleNote trouble={share.trouble} />
    </form>
  );
}

/** Of a person one may leave out what every name begins with. */
function granteeOf(whom: string, name: string) {
  if (whom === PERSON) return { case: "principal", value: name.startsWith("user:") ? name : `user:${name}` } as const;
  return whom === EVERYBODY ? ({ case: "everybody", value: {} } as const) : ({ case: "team", value: whom.slice("team:".length) } as const);
}
