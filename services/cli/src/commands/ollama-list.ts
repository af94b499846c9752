import { createClient } from "@connectrpc/connect";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { showModels } from "./model-list.ts";

/** The exit code is 1 where there is no Ollama, or none that answers. */
export async function ollamaList(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { models } = await withMesh(context, (transport) => createClient(ModelService, transport).listModels({}));
  const ollama = models.filter(({ provider }) => provider === "ollama");
  showModels(ollama, flags);
  if (ollama.length === 0)
    context.screen.note(
      "There is no Ollama: set HLVM_OLLAMA_URL, for example to http://127.0.0.1:11434, before the mesh starts.",
      "warning",
    );
  return ollama.some(({ available }) => available) ? EXIT_OK : EXIT_FAILED;
}
