import { MethodOptions_IdempotencyLevel as IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { ChannelOptions, ServiceConfig } from "@grpc/grpc-js";
import { Health } from "@hlvm/proto/grpc/health/v1/health_pb";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { TeamResolverService, TeamService, TokenResolverService, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { DeviceService, LoginService } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { MemberService } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { PersonalDataService } from "@hlvm/proto/hlvm/memory/v1/personal_data_pb";
import { MemoryStatsService } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { ThreadService } from "@hlvm/proto/hlvm/memory/v1/thread_pb";
import { TranscriptService } from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { WikiService } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ProviderKeyService } from "@hlvm/proto/hlvm/model/v1/provider_key_pb";
import { PoolService } from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RunPolicyService } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { ModelCallService } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { SharingService } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { WatchService } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import { PING_INTERVAL_MILLISECONDS, PING_TIMEOUT_MILLISECONDS, WINDOW_BYTES } from "../connection-settings.ts";
import { MAXIMUM_MESSAGE_BYTES } from "../maximum-message-bytes.ts";

const SERVICES = [
  AuditService,
  DeviceService,
  Health,
  LoginService,
  MemberService,
  MemoryService,
  MemoryStatsService,
  PersonalDataService,
  ModelCallService,
  ModelService,
  PolicyService,
  PoolService,
  ProviderKeyService,
  RunPolicyService,
  SandboxService,
  SessionService,
  SharingService,
  SpendingService,
  TokenResolverService,
  TeamService,
  TeamResolverService,
  ThreadService,
  TokenService,
  TranscriptService,
  WikiService,
  TrustService,
  WatchService,
] as const;
/** A replica that ended is started again within one to six seconds; grpc-js would wait up to two minutes. */
const LONGEST_RECONNECT_MILLISECONDS = 2_000;
const DNS_INTERVAL_MILLISECONDS = 5_000;
/** What calls that may be made again hold in memory together; one of them holds its largest message at most. */
const RETRY_BUFFER_BYTES = 16 * MAXIMUM_MESSAGE_BYTES;

/** The methods whose contract says that a call may be made twice. */
export const REPEATABLE_METHODS = SERVICES.flatMap(({ typeName, methods }) =>
  methods
    .filter(({ idempotency }) => idempotency !== IdempotencyLevel.IDEMPOTENCY_UNKNOWN)
    .map(({ name }) => ({ service: typeName, method: name })),
);

const SERVICE_CONFIG: ServiceConfig = {
  loadBalancingConfig: [{ round_robin: {} }],
  methodConfig: [
    {
      name: REPEATABLE_METHODS,
      retryPolicy: {
        maxAttempts: 4,
        initialBackoff: "0.05s",
        maxBackoff: "1s",
        backoffMultiplier: 2,
        retryableStatusCodes: ["UNAVAILABLE"],
      },
    },
  ],
};

export const CHANNEL_OPTIONS: ChannelOptions = {
  "grpc.service_config": JSON.stringify(SERVICE_CONFIG),
  "grpc.service_config_disable_resolution": 1,
  "grpc.max_receive_message_length": MAXIMUM_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAXIMUM_MESSAGE_BYTES,
  "grpc.keepalive_time_ms": PING_INTERVAL_MILLISECONDS,
  "grpc.keepalive_timeout_ms": PING_TIMEOUT_MILLISECONDS,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": LONGEST_RECONNECT_MILLISECONDS,
  "grpc.dns_min_time_between_resolutions_ms": DNS_INTERVAL_MILLISECONDS,
  "grpc.per_rpc_retry_buffer_size": MAXIMUM_MESSAGE_BYTES,
  "grpc.retry_buffer_size": RETRY_BUFFER_BYTES,
  "grpc-node.flow_control_window": WINDOW_BYTES,
  // Services of the mesh stand behind no proxy, whatever the environment says of the way to the internet.
  "grpc.enable_http_proxy": 0,
};
