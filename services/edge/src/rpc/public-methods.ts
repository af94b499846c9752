import type { DescService } from "@bufbuild/protobuf";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";

export type BackendName = "orchestrator" | "model-gateway" | "sandbox" | "policy" | "memory";

export interface PublicService {
  readonly service: DescService;
  readonly backend: BackendName;
  /** Names of the methods that clients may call. */
  readonly methods: readonly string[];
}

/** All that clients may call. A method that is not named here is closed, new ones too. */
export const PUBLIC_SERVICES: readonly PublicService[] = [
  open(SessionService, "orchestrator", [
    ...(["startRun", "watch", "cancelRun", "sendMessage", "listSessions", "getSession", "getContext"] as const),
    ...(["updateSession", "deleteSession", "exportSession", "importSession", "forkSession", "undoToTurn"] as const),
  ]),
  open(SpendingService, "orchestrator", ["listBudgets", "putBudget", "queryUsage"]),
  open(PolicyService, "policy", ["listApprovals", "getApproval", "answerApproval"]),
  open(TrustService, "policy", ["addTrust", "listTrust", "removeTrust"]),
  open(AuditService, "policy", ["query"]),
  open(MemoryService, "memory", ["writeFact", "searchFacts", "editFact"]),
  open(ModelService, "model-gateway", ["listModels", "resolveModel"]),
  open(SandboxService, "sandbox", [
    "describeIsolation",
    "listProcesses",
    "stopProcess",
    "cloneWorkspace",
    "beginUpload",
    "uploadChunk",
    "finishUpload",
    "getChanges",
    "readInstructions",
  ]),
];

function open<Service extends DescService>(
  service: Service,
  backend: BackendName,
  methods: readonly (keyof Service["method"] & string)[],
): PublicService {
  return { service, backend, methods };
}
