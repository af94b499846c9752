import { createClient } from "@connectrpc/connect";
import { permissionModeOf } from "@hlvm/ndjson/permission-mode";
import type { PermissionModeName } from "@hlvm/ndjson/permission-mode-name";
import { ApprovalAnswer, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { planOf, putPlan } from "../approval/put-plan.ts";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readPlanFile } from "../options/read-plan-file.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { Interrupts } from "../terminal/interrupts.ts";
import { TerminalInput } from "../terminal/terminal-input.ts";
import { noPlan, waitingPlan } from "./plan-show.ts";

export interface PlanAcceptFlags {
  readonly mode: PermissionModeName;
  readonly file?: string;
  readonly argumentsHash?: string;
}

/**
 * Accepts the plan that waits in a session: as the file has it, as it was shown with that hash, or shown now on a terminal.
 * @throws HlvmError wrong usage, where nobody can have seen it
 */
export async function planAccept(sessionId: string, flags: PlanAcceptFlags, context: CommandContext): Promise<number> {
  const { screen, config } = context;
  const canShow = process.stdin.isTTY && process.stderr.isTTY;
  const edited = flags.file === undefined ? undefined : readPlanFile(flags.file);
  if (edited === undefined && flags.argumentsHash === undefined && !canShow)
    throw wrongUsage(
      "There is no terminal to show the plan on, so that nobody would have seen what they accept.",
      "Give --file with the plan as you want it, or the arguments_hash of `hlvm plan show ID --json` as --arguments-hash.",
    );
  return await withMesh(context, async (transport) => {
    const approval = await waitingPlan(transport, sessionId);
    if (approval === undefined) throw noPlan(sessionId);
    const policy = createClient(PolicyService, transport);
    const { approvalId } = approval;
    if (edited !== undefined || flags.argumentsHash !== undefined) {
      const said = { text: edited ?? planOf(approval), mode: permissionModeOf(flags.mode) };
      await policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE, argumentsHash: flags.argumentsHash ?? "", ...said });
      screen.note(`Accepted; the run goes on in the mode ${flags.mode}.`);
      return EXIT_OK;
    }
    using interrupts = new Interrupts();
    using input = new TerminalInput(process.stdin, { write: screen.control, onControlC: () => interrupts.interrupt(130) });
    const said = await putPlan(policy, approval, { screen, input, editor: config.editor }, interrupts.signal);
    if (said === "closed") return interrupts.exitCode ?? EXIT_FAILED;
    screen.note(said);
    return EXIT_OK;
  });
}

/** Rejects it, for which nobody has to have seen it; the model is told the words. */
export async function planReject(sessionId: string, words: string, context: CommandContext): Promise<number> {
  await withMesh(context, async (transport) => {
    const approval = await waitingPlan(transport, sessionId);
    if (approval === undefined) throw noPlan(sessionId);
    const { approvalId } = approval;
    await createClient(PolicyService, transport).answerApproval({ approvalId, answer: ApprovalAnswer.DENY, text: words });
  });
  context.screen.note("Rejected.");
  return EXIT_OK;
}
