import type { ResolvedProvider } from "../../../claude/provider/resolve-provider.ts";
import type { ProviderProtocol } from "./contract.ts";

const callPath = /\/models\/(?<model>[A-Za-z0-9@._-]+):(?<stream>streamRawPredict|rawPredict)$/;

/** Vertex AI: project, region and model are in the path. */
export const vertex: ProviderProtocol = {
  routes: (provider) => {
    const models = `^${escapeForPattern(`${modelsPath(provider)}/`)}`;
    return [
      { method: "POST", path: new RegExp(`${models}count-tokens:rawPredict$`), use: "free" },
      {
        method: "POST",
        path: /* defence: vertex-project */ new RegExp(
          `${models}claude-[A-Za-z0-9@._-]+:(streamRawPredict|rawPredict)$`,
        ),
        use: "message",
      },
    ];
  },
  readPath: (path) => {
    const groups = callPath.exec(path)?.groups;
    return { model: groups?.model, isStream: groups?.stream === "streamRawPredict" };
  },
  clientVariables: (baseUrl, { project = "", region = "us-east5" }) => ({
    CLAUDE_CODE_USE_VERTEX: "1",
    CLAUDE_CODE_SKIP_VERTEX_AUTH: "1",
    ANTHROPIC_VERTEX_BASE_URL: baseUrl,
    ANTHROPIC_VERTEX_PROJECT_ID: project,
    CLOUD_ML_REGION: region,
  }),
  probePath: (provider) => {
    const { haiku, sonnet, opus } = provider.models;
    const model = haiku ?? sonnet ?? opus ?? "claude-haiku-4-5@20251001";
    return `${modelsPath(provider)}/${model}:rawPredict`;
  },
};

function modelsPath({ project, region }: ResolvedProvider): string {
  return `/projects/${project}/locations/${region}/publishers/anthropic/models`;
}

function escapeForPattern(text: string): string {
  return text.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&");
}
