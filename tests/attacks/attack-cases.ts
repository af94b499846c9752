import type { AttackCase } from "./attack-case.ts";
import { agentBudgets } from "./cases/agent-budgets.ts";
import { agentContext } from "./cases/agent-context.ts";
import { agentDelegation } from "./cases/agent-delegation.ts";
import { agentInstructionTexts } from "./cases/agent-instruction-texts.ts";
import { agentInstructions } from "./cases/agent-instructions.ts";
import { agentMessages } from "./cases/agent-messages.ts";
import { agentPlanMode } from "./cases/agent-plan-mode.ts";
import { agentQuestions } from "./cases/agent-questions.ts";
import { agentWorkers } from "./cases/agent-workers.ts";
import { commandClassification } from "./cases/a-command-classification.ts";
import { doorsApprovals } from "./cases/doors-approvals.ts";
import { doorsLogins } from "./cases/doors-logins.ts";
import { doorsModels } from "./cases/doors-models.ts";
import { doorsOtherOrganization } from "./cases/doors-other-organization.ts";
import { doorsRequests } from "./cases/doors-requests.ts";
import { doorsTokens } from "./cases/doors-tokens.ts";
import { paths } from "./cases/b-paths.ts";
import { promptInjection } from "./cases/e-prompt-injection.ts";
import { resources } from "./cases/f-resources.ts";
import { audit } from "./cases/g-audit.ts";
import { tenants } from "./cases/h-tenants.ts";
import { seenCloneTraps } from "./cases/seen-clone-traps.ts";
import { seenEndpoints } from "./cases/seen-endpoints.ts";
import { seenDressedUpApproval } from "./cases/seen-dressed-up-approval.ts";
import { seenIdentity } from "./cases/seen-identity.ts";
import { seenOverwritingReaders } from "./cases/seen-overwriting-readers.ts";
import { seenProtectedWrites } from "./cases/seen-protected-writes.ts";
import { seenRecords } from "./cases/seen-records.ts";
import { seenRunnerTakeover } from "./cases/seen-runner-takeover.ts";
import { seenSpoiledSession } from "./cases/seen-spoiled-session.ts";

/** Every attack, in the order of the table. Those that stop parts of the mesh come last in their group. */
export const attackCases: readonly AttackCase[] = [
  ...seenCloneTraps,
  ...seenRunnerTakeover,
  ...seenProtectedWrites,
  ...seenOverwritingReaders,
  ...seenSpoiledSession,
  ...seenDressedUpApproval,
  ...seenIdentity,
  ...seenRecords,
  ...seenEndpoints,
  ...commandClassification,
  ...paths,
  ...promptInjection,
  ...resources,
  ...audit,
  ...tenants,
  ...agentInstructions,
  ...agentInstructionTexts,
  ...agentPlanMode,
  ...agentWorkers,
  ...agentDelegation,
  ...agentMessages,
  ...agentQuestions,
  ...agentBudgets,
  ...agentContext,
  ...doorsRequests,
  ...doorsLogins,
  ...doorsTokens,
  ...doorsApprovals,
  ...doorsModels,
  ...doorsOtherOrganization,
];
