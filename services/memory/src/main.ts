import { fileURLToPath } from "node:url";
import type { ConnectRouter } from "@connectrpc/connect";
import { GrantGate } from "@hlvm/grant/grant-gate";
import { readPublicKeys } from "@hlvm/identity/public-keys";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { ModelWorkService } from "@hlvm/proto/hlvm/memory/v1/model_work_pb";
import { PersonalDataService } from "@hlvm/proto/hlvm/memory/v1/personal_data_pb";
import { MemoryStatsService } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { ThreadService } from "@hlvm/proto/hlvm/memory/v1/thread_pb";
import { TranscriptService } from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { WikiService } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { runService } from "@hlvm/service/run-service";
import { Circuit } from "./adapters/circuit.ts";
import { fillEntities } from "./adapters/entity-filler.ts";
import { MeilisearchConnection } from "./adapters/meilisearch-connection.ts";
import { MeilisearchFactIndex } from "./adapters/meilisearch-fact-index.ts";
import { MeilisearchFactWriter } from "./adapters/meilisearch-fact-writer.ts";
import { OutboxIndexer } from "./adapters/outbox-indexer.ts";
import { PostgresFactStore } from "./adapters/postgres-fact-store.ts";
import { PostgresModelWork } from "./adapters/postgres-model-work.ts";
import { PostgresProjects } from "./adapters/postgres-projects.ts";
import { PostgresPersonalData } from "./adapters/postgres-personal-data.ts";
import { PostgresRetention } from "./adapters/postgres-retention.ts";
import { PostgresThreads } from "./adapters/postgres-threads.ts";
import { PostgresTranscripts } from "./adapters/postgres-transcripts.ts";
import { PostgresUsageLog } from "./adapters/postgres-usage-log.ts";
import { PostgresWiki } from "./adapters/postgres-wiki.ts";
import { chooseEmbeddingModel } from "./adapters/embedding-model.ts";
import { ItemEmbedder } from "./adapters/item-embedder.ts";
import { OpenAiEmbedder } from "./adapters/openai-embedder.ts";
import { fillSearch } from "./adapters/search-filler.ts";
import { readMemoryConfig } from "./config.ts";
import { modelWorkMethods } from "./rpc/model-work.ts";
import { MAXIMUM_POSTINGS } from "./domain/search/item-search.ts";
import { personalDataMethods } from "./rpc/personal-data.ts";
import { memoryRoutes } from "./rpc/routes.ts";
import { threadMethods } from "./rpc/threads.ts";
import { transcriptMethods } from "./rpc/transcripts.ts";
import { wikiMethods } from "./rpc/wiki.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

await runService("memory", async (log, environment) => {
  const config = readMemoryConfig(environment);
  const authenticate = new TokenVerifier("memory", readPublicKeys(config.tokenPublicKeys));
  const gate = new GrantGate(readPublicKeys(config.grantPublicKeys));

  const database = new Database(config.databaseUrl, log);
  await migrate(database, MIGRATIONS);
  await fillSearch(database, log);
  await fillEntities(database, log);
  const embedder = config.embeddings && new OpenAiEmbedder(config.embeddings);
  await chooseEmbeddingModel(database, embedder?.model);
  // Of its own, so that a batch that takes long does not keep questions from being asked.
  const itemEmbedder = config.embeddings && new ItemEmbedder(database, new OpenAiEmbedder(config.embeddings), log);

  const meilisearch = new MeilisearchConnection({ url: config.meilisearchUrl, key: config.meilisearchKey });
  const circuit = new Circuit();
  const indexer = new OutboxIndexer(database, new MeilisearchFactWriter(meilisearch), circuit, log);
  const store = new PostgresFactStore(database, () => indexer.wake());
  const index = new MeilisearchFactIndex(meilisearch, circuit, log, () => indexer.wake(), MAXIMUM_POSTINGS);

  const { host, port } = config;
  const limits = connectionLimits(config.connectionAgeSeconds);
  const projects = new PostgresProjects(database);
  const transcripts = new PostgresTranscripts(database, embedder);
  const wiki = new PostgresWiki(database, embedder);
  const usage = new PostgresUsageLog(database, log);
  const personalData = new PostgresPersonalData(database, () => indexer.wake());
  const routes = (router: ConnectRouter): void => {
    memoryRoutes({ store, index, embedder, gate, projects, usage, transcripts, wiki })(router);
    router.service(TranscriptService, transcriptMethods({ transcripts, projects }));
    router.service(WikiService, wikiMethods({ wiki, projects }));
    router.service(ModelWorkService, modelWorkMethods({ work: new PostgresModelWork(database, () => indexer.wake()), projects }));
    router.service(ThreadService, threadMethods({ threads: new PostgresThreads(database), projects }));
    router.service(PersonalDataService, personalDataMethods({ personalData, retention: new PostgresRetention(database) }));
  };
  const served = [MemoryService, MemoryStatsService, ModelWorkService, PersonalDataService, ThreadService, TranscriptService, WikiService];
  const services = served.map(({ typeName }) => typeName);
  const server = await startRpcServer({ host, port, limits, log, routes, services, authenticate });
  indexer.start();
  itemEmbedder?.start();
  return {
    port: server.port,
    close: async () => {
      await server.close();
      await indexer.close();
      await itemEmbedder?.close();
      await database.close();
    },
  };
});
