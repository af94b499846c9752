import { createClient, type Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ApprovalKind, PolicyService, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { planOf, PLAN_HEADING } from "../approval/put-plan.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { followSession } from "../run/follow-session.ts";
import { printable } from "../terminal/printable.ts";

interface ShownPlan {
  /** `pending`, `accepted` or `rejected`. */
  readonly state: string;
  readonly plan: string;
  readonly approval_id?: string;
  readonly arguments_hash?: string;
}

/** The plan that waits in a session, or what came of its last one. */
export async function planShow(sessionId: string, flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const shown = await withMesh(context, async (transport): Promise<ShownPlan> => {
    const waiting = await waitingPlan(transport, sessionId);
    if (waiting === undefined) return lastPlan(transport, sessionId);
    const { approvalId, argumentsHash } = waiting;
    return { state: "pending", plan: planOf(waiting), approval_id: approvalId, arguments_hash: argumentsHash };
  });
  if (flags.json === true) process.stdout.write(jsonLine({ session_id: sessionId, ...shown }));
  else process.stdout.write(`${shown.state === "pending" ? PLAN_HEADING : `The plan was ${shown.state}.`}\n\n${printable(shown.plan)}\n`);
  return EXIT_OK;
}

/** The plan of a session that waits for its person, if one does. */
export async function waitingPlan(transport: Transport, sessionId: string): Promise<Approval | undefined> {
  const { approvals } = await createClient(PolicyService, transport).listApprovals({ sessionId });
  return approvals.find(({ kind }) => kind === ApprovalKind.PLAN);
}

export function noPlan(sessionId: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "plan_not_found",
    message: `No plan waits in session ${sessionId}.`,
    advice: 'Ask with `hlvm ask --permission-mode plan "…"`; `hlvm session show` tells what became of an earlier one.',
  });
}

async function lastPlan(transport: Transport, sessionId: string): Promise<ShownPlan> {
  const sessions = createClient(SessionService, transport);
  const { signal } = new AbortController();
  let proposed = "";
  let last: ShownPlan | undefined;
  for await (const { payload } of followSession(sessions, { sessionId, from: 0n, follow: false, signal, onLost: () => undefined })) {
    if (payload.case === "planCreated") {
      proposed = payload.value.text;
      last = { state: "unanswered", plan: proposed };
    }
    if (payload.case !== "planAnswered") continue;
    const { accepted, text } = payload.value;
    last = { state: accepted ? "accepted" : "rejected", plan: accepted ? text : proposed };
  }
  if (last === undefined) throw noPlan(sessionId);
  return last;
}
