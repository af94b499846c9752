import { MemberRoleSchema, MemberService } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { UserRound } from "lucide-react";
import { Link } from "wouter";
import { useClient } from "../api/use-client.ts";
import { useAction, useCall } from "../api/use-call.ts";
import { logOut } from "../login/team-login.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { shownProse } from "../parts/shown-text.ts";
import { TroubleNote } from "../parts/trouble-note.tsx";
import { personName } from "../parts/words.ts";
import styles from "./shell.module.css";

/** Who one is here and what one may, and the way out. */
export function Account() {
  const client = useClient(MemberService);
  const { value: me } = useCall("me", (signal) => client.getMe({}, { signal }));
  const leave = useAction(logOut);
  if (me === undefined) return null;
  const name = shownProse(me.member?.name || personName(me.principal));
  return (
    <details className={styles.account}>
      <summary title={`You are ${name}`}>
        <Icon of={UserRound} />
        <span className={styles.accountName}>{name}</span>
      </summary>
      <div>
        <p>{personName(me.principal)}</p>
        <p className={styles.quiet}>
          {me.roles.map((role) => enumWord(MemberRoleSchema, role).replace("_", "-")).join(", ") || "no role yet"}
        </p>
        <p>
          <Link href="/settings/tokens">Tokens</Link>
        </p>
        <TroubleNote trouble={leave.trouble} />
        <Button onClick={() => leave.run()} disabled={leave.isBusy}>
          Log out
        </Button>
      </div>
    </details>
  );
}
