import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { ModelWorkService } from "@hlvm/proto/hlvm/memory/v1/model_work_pb";
import { PersonalDataService } from "@hlvm/proto/hlvm/memory/v1/personal_data_pb";
import { MemoryStatsService } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { ThreadService } from "@hlvm/proto/hlvm/memory/v1/thread_pb";
import { TranscriptService } from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { WikiService } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { TeamService, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PoolService } from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { ProviderKeyService } from "@hlvm/proto/hlvm/model/v1/provider_key_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { WatchService } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import { ROLES, type Role } from "@hlvm/identity/principal";
import { DeviceService } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { MemberService } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import type { NeededScopes } from "../domain/demand-scope.ts";
import { MemoryWorkService } from "@hlvm/proto/hlvm/session/v1/memory_work_pb";
import { SharingService } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";

export type BackendName = "orchestrator" | "model-gateway" | "sandbox" | "policy" | "memory";

export interface PublicService {
  readonly service: DescService;
  readonly backend: BackendName;
  /** The methods that clients may call, by name, and what each takes. */
  readonly methods: ReadonlyMap<string, Access>;
}

/** What a method takes: of a token, and of the person. Which of several roles is enough may depend on what is asked: that the service decides. */
export interface Access {
  readonly scopes: NeededScopes;
  readonly roles: readonly Role[];
  /** Put on record before it is handed on, since the service that answers it does not. */
  readonly isRecorded?: boolean;
}

const LOOK: Access = { scopes: ["read", "run"], roles: ROLES };
const LOOK_AT_POOL: Access = { scopes: ["read", "run"], roles: ["developer", "admin"] };
const LOOK_AT_MODELS: Access = { scopes: ["read", "run", "model"], roles: ROLES };
const ASK: Access = { scopes: ["run"], roles: ["developer", "admin"] };
const ADMINISTER: Access = { scopes: ["admin"], roles: ["admin"] };
const ADMINISTER_ON_RECORD: Access = { ...ADMINISTER, isRecorded: true };
/** Of a session of one's own everybody sets the budget who may ask. */
const SPEND: Access = { scopes: ["admin"], roles: ["developer", "admin"] };
const SEE_APPROVALS: Access = { scopes: ["read", "run", "approve"], roles: ROLES };
/** Who asked answers what their own run asks them. */
const ANSWER: Access = { scopes: ["approve"], roles: ["developer", "approver", "admin"] };
const ANSWER_ON_RECORD: Access = { ...ANSWER, isRecorded: true };
const AUDIT: Access = { scopes: ["audit"], roles: ["security-auditor", "admin"] };
const SEE_MEMBERS: Access = { scopes: ["admin", "audit"], roles: ["admin", "security-auditor"] };
const ASK_IN_PERSON: Access = { scopes: "person", roles: ["developer", "admin"] };
const ADMINISTER_IN_PERSON: Access = { scopes: "person", roles: ["admin"] };
/** What is one's own, whatever else one may. */
const ONESELF: Access = { scopes: ["read", "run"], roles: [] };
const ONESELF_IN_PERSON: Access = { scopes: "person", roles: [] };
const ONESELF_ON_RECORD: Access = { ...ONESELF_IN_PERSON, isRecorded: true };

/** All that clients may call. A method that is not named here is closed, new ones too. */
export const PUBLIC_SERVICES: readonly PublicService[] = [
  open(SessionService, "orchestrator", {
    startRun: ASK,
    watch: LOOK,
    readEvents: LOOK,
    readOutput: LOOK,
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
  open(SharingService, "orchestrator", {
    listGrants: LOOK,
    putGrant: ASK,
    removeGrant: ASK,
    takeSession: ASK,
    comment: { scopes: ["run"], roles: ROLES },
  }),
  open(SpendingService, "orchestrator", { listBudgets: LOOK, putBudget: SPEND, queryUsage: LOOK, listCacheBreaks: LOOK }),
  open(MemoryWorkService, "orchestrator", {
    allowMemoryWork: ASK,
    endMemoryWork: ASK,
    getMemoryWork: LOOK,
    labelSession: ASK,
  }),
  open(PolicyService, "policy", {
    listApprovals: SEE_APPROVALS,
    getApproval: SEE_APPROVALS,
    answerApproval: ANSWER,
    answerApprovals: ANSWER,
  }),
  open(TrustService, "policy", { addTrust: ASK_IN_PERSON, listTrust: LOOK, removeTrust: ASK_IN_PERSON }),
  open(TokenService, "policy", { createToken: ONESELF_IN_PERSON, listTokens: ONESELF, revokeToken: ONESELF_IN_PERSON }),
  open(TeamService, "policy", {
    listTeams: ONESELF,
    createTeam: ADMINISTER,
    deleteTeam: ADMINISTER,
    addTeamMember: ADMINISTER,
    removeTeamMember: ADMINISTER,
  }),
  open(MemberService, "policy", {
    getMe: { scopes: ["read", "run", "approve", "audit", "admin", "model"], roles: [] },
    listMembers: SEE_MEMBERS,
    listGroupMappings: SEE_MEMBERS,
    putRole: ADMINISTER_IN_PERSON,
    removeRole: ADMINISTER_IN_PERSON,
    suspendMember: ADMINISTER_IN_PERSON,
    resumeMember: ADMINISTER_IN_PERSON,
    putGroupMapping: ADMINISTER_IN_PERSON,
    removeGroupMapping: ADMINISTER_IN_PERSON,
  }),
  open(DeviceService, "policy", { findDevice: ONESELF_IN_PERSON, answerDevice: ONESELF_IN_PERSON }),
  open(AuditService, "policy", {
    query: AUDIT,
    whoApproved: AUDIT,
    aggregate: AUDIT,
    sessionTimeline: AUDIT,
    tail: AUDIT,
  }),
  open(MemoryService, "memory", {
    writeFact: ASK,
    searchFacts: LOOK,
    editFact: ASK,
    listFacts: LOOK,
    listFactChanges: LOOK,
    getFact: LOOK,
    undoFactChange: ASK,
    writeFacts: ASK,
    listProposals: LOOK,
    acceptProposal: ANSWER,
    rejectProposal: ANSWER,
    listProjects: LOOK,
    addProjectMember: ADMINISTER,
    removeProjectMember: ADMINISTER,
  }),
  open(PersonalDataService, "memory", {
    exportPersonalData: ONESELF_ON_RECORD,
    erasePersonalData: ONESELF_ON_RECORD,
    listRetention: LOOK,
    setRetention: ADMINISTER_ON_RECORD,
  }),
  open(TranscriptService, "memory", {
    importTurns: ASK,
    listTranscripts: LOOK,
    searchTranscripts: LOOK,
    getTranscript: LOOK,
    citeTranscript: ASK,
    listTranscriptSources: LOOK,
    forgetTranscripts: ONESELF_ON_RECORD,
  }),
  open(ModelWorkService, "memory", { countModelWork: LOOK }),
  open(WikiService, "memory", {
    listWikiPages: LOOK,
    getWikiPage: LOOK,
    searchWiki: LOOK,
    writeWikiPage: ASK,
    listWikiRevisions: LOOK,
    getWikiRevision: LOOK,
    approveWikiRevision: ANSWER_ON_RECORD,
    rejectWikiRevision: ANSWER_ON_RECORD,
    lintWiki: LOOK,
  }),
  open(ThreadService, "memory", { getThread: LOOK }),
  open(MemoryStatsService, "memory", {
    getMemoryStats: LOOK,
    listRecalls: LOOK,
    getRecall: LOOK,
    markRecall: ONESELF_ON_RECORD,
    auditFacts: LOOK,
  }),
  open(ModelService, "model-gateway", { listModels: LOOK_AT_MODELS, resolveModel: LOOK_AT_MODELS, explainRoute: LOOK_AT_MODELS }),
  open(PoolService, "model-gateway", { listPool: LOOK_AT_POOL, drainInstance: ADMINISTER_ON_RECORD, resumeInstance: ADMINISTER_ON_RECORD }),
  open(ProviderKeyService, "model-gateway", {
    listProviderKeys: ADMINISTER,
    addProviderKey: ADMINISTER_ON_RECORD,
    rotateProviderKey: ADMINISTER_ON_RECORD,
    removeProviderKey: ADMINISTER_ON_RECORD,
  }),
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
const OWN_METHODS: ReadonlyMap<DescMethod, Access> = new Map([[WatchService.method.watch, LOOK]]);

/** What a method takes; of those that are closed, and of health checks, nothing: other code answers them. */
export function accessOf(method: DescMethod): Access | undefined {
  return OWN_METHODS.get(method) ?? PUBLIC_SERVICES.find(({ service }) => service === method.parent)?.methods.get(method.localName);
}

function open<Service extends DescService>(
  service: Service,
  backend: BackendName,
  methods: Readonly<Partial<Record<keyof Service["method"] & string, Access>>>,
): PublicService {
  return { service, backend, methods: new Map(Object.entries<Access>(methods as Record<string, Access>)) };
}
