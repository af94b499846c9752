import type { ConnectRouter } from "@connectrpc/connect";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { MemoryStatsService } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import type { Gate } from "../domain/execute-tool.ts";
import type { MemoryToolPorts } from "../domain/memory-tools.ts";
import { editFactHandler } from "./edit-fact.ts";
import { executeToolHandler } from "./execute-tool.ts";
import { getFactHandler } from "./get-fact.ts";
import { listFactChangesHandler, listFactsHandler } from "./list-facts.ts";
import { recallHandler } from "./recall.ts";
import { auditFactsHandler, getMemoryStatsHandler, listRecallsHandler, recordAnswerHandler } from "./memory-stats.ts";
import { searchFactsHandler } from "./search-facts.ts";
import { undoFactChangeHandler } from "./undo-fact-change.ts";
import { watchFactsHandler } from "./watch-facts.ts";
import { writeFactHandler } from "./write-fact.ts";

export function memoryRoutes(ports: MemoryToolPorts & { readonly gate: Gate }): (router: ConnectRouter) => void {
  return (router) => {
    router.service(MemoryService, {
      writeFact: writeFactHandler(ports.store),
      searchFacts: searchFactsHandler(ports),
      editFact: editFactHandler(ports.store),
      listFacts: listFactsHandler(ports.store),
      listFactChanges: listFactChangesHandler(ports.store),
      getFact: getFactHandler(ports.store),
      undoFactChange: undoFactChangeHandler(ports.store),
      watchFacts: watchFactsHandler(ports.store),
      recall: recallHandler(ports),
      executeTool: executeToolHandler(ports),
    });
    router.service(MemoryStatsService, {
      recordAnswer: recordAnswerHandler(ports),
      getMemoryStats: getMemoryStatsHandler(ports.usage),
      listRecalls: listRecallsHandler(ports.usage),
      auditFacts: auditFactsHandler(ports),
    });
  };
}
