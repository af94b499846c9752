import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { TeamService, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { WatchService } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import type { NeededScopes } from "../domain/demand-scope.ts";
import { SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";

export type BackendName = "orchestrator" | "model-gateway" | "sandbox" | "policy" | "memory";

export interface PublicService {
  readonly service: DescService;
  readonly backend: BackendName;
  /** The methods that clients may call, by name, and what a token needs for each. */
  readonly methods: ReadonlyMap<string, NeededScopes>;
}

const LOOK = ["read", "run"] as const;
const ASK = ["run"] as const;
const ADMINISTER = ["admin"] as const;
const PERSON = "person";

/** All that clients may call. A method that is not named here is closed, new ones too. */
export const PUBLIC_SERVICES: readonly PublicService[] = [
  open(SessionService, "orchestrator", {
    startRun: ASK,
    watch: LOOK,
    readEvents: LOOK,
    cancelRun: ASK,
    sendMessage: ASK,
    listSessions: LOOK,
    getSession: LOOK,
    getContext: LOOK,
    updateSession: ASK,
    deleteSession: ASK,
    exportSession: LOOK,
    importSession: ASK,
    forkSession: ASK,
    undoToTurn: ASK,
  }),
  open(SpendingService, "orchestrator", { listBudgets: LOOK, putBudget: ADMINISTER, queryUsage: LOOK }),
  open(PolicyService, "policy", {
    listApprovals: [...LOOK, "approve"],
    getApproval: [...LOOK, "approve"],
    answerApproval: ["approve"],
    answerApprovals: ["approve"],
  }),
  open(TrustService, "policy", { addTrust: PERSON, listTrust: LOOK, removeTrust: PERSON }),
  open(TokenService, "policy", { createToken: PERSON, listTokens: LOOK, revokeToken: PERSON }),
  open(TeamService, "policy", {
    listTeams: LOOK,
    createTeam: ADMINISTER,
    deleteTeam: ADMINISTER,
    addTeamMember: ADMINISTER,
    removeTeamMember: ADMINISTER,
  }),
  open(AuditService, "policy", {
    query: ["audit"],
    whoApproved: ["audit"],
    aggregate: ["audit"],
    sessionTimeline: ["audit"],
    tail: ["audit"],
  }),
  open(MemoryService, "memory", { writeFact: ASK, searchFacts: LOOK, editFact: ASK }),
  open(ModelService, "model-gateway", { listModels: LOOK, resolveModel: LOOK }),
  open(SandboxService, "sandbox", {
    describeIsolation: LOOK,
    listProcesses: LOOK,
    stopProcess: ASK,
    cloneWorkspace: ASK,
    beginUpload: ASK,
    uploadChunk: ASK,
    finishUpload: ASK,
    getChanges: LOOK,
    readInstructions: LOOK,
  }),
];

/** What the edge answers itself; it asks the services behind it in the caller's name. */
const OWN_METHODS: ReadonlyMap<DescMethod, NeededScopes> = new Map([[WatchService.method.watch, LOOK]]);

/** What a token needs for a method; of those that are closed, and of health checks, nothing: other code answers them. */
export function scopesOf(method: DescMethod): NeededScopes | undefined {
  return OWN_METHODS.get(method) ?? PUBLIC_SERVICES.find(({ service }) => service === method.parent)?.methods.get(method.localName);
}

function open<Service extends DescService>(
  service: Service,
  backend: BackendName,
  methods: Readonly<Partial<Record<keyof Service["method"] & string, NeededScopes>>>,
): PublicService {
  return { service, backend, methods: new Map(Object.entries<NeededScopes>(methods as Record<string, NeededScopes>)) };
}
