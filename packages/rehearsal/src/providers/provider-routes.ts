import { estimatePromptTokens } from "../reply/api-message.ts";
import type { ScriptedModel } from "../reply/scripted-model.ts";
import { errorResponse, jsonResponse, type PlannedResponse } from "../server/planned-response.ts";
import { planMessage, type ReceivedRequest, type Route, withParsedBody } from "../server/routes.ts";
import { statusError } from "./provider-errors.ts";
import { providerProtocols } from "./provider-protocols.ts";
import { type RehearsedProvider, rehearsedProviders } from "./rehearsed-providers.ts";

/** Separates the provider from the rest of a path such as `/bedrock/model/x/invoke`. */
export function splitProvider(path: string): { provider?: RehearsedProvider; path: string } {
  const [, name, rest = ""] = /^\/([a-z_]+)(\/.*)$/.exec(path) ?? [];
  const provider = rehearsedProviders.find((known) => known === name);
  return provider === undefined ? { path } : { provider, path: rest };
}

export function createProviderRoutes(model: ScriptedModel, provider: RehearsedProvider): Route[] {
  const protocol = providerProtocols[provider];
  const { dialect, isBinary, version } = protocol;
  const refuseBody = (message: string) => statusError(dialect, 400, { message });
  return [
    ...protocol.calls.map(({ path, kind, read }): Route => {
      if (kind === "models")
        return {
          method: "GET",
          path,
          kind,
          plan: () => jsonResponse({ inferenceProfileSummaries: [] }),
        };
      if (kind === "count_tokens") {
        const plan = withParsedBody(
          (body) => jsonResponse({ input_tokens: estimatePromptTokens(body) }),
          refuseBody,
        );
        return { method: "POST", path, kind, plan };
      }
      return {
        method: "POST",
        path,
        kind,
        plan: (received) => planCall(received, read?.(received.path)),
      };
    }),
    { method: "HEAD", path: /^\/(api\/hello)?$/, kind: "probe", plan: () => jsonResponse({}) },
  ];

  function planCall(
    received: ReceivedRequest,
    inPath: { model: string; stream?: boolean } | undefined,
  ): PlannedResponse {
    const { body } = received;
    if (typeof body !== "object" || body === null) return errorResponse(400, "no JSON body");
    if (
      version !== undefined &&
      (!("anthropic_version" in body) || body.anthropic_version !== version)
    )
      return refuseBody(`anthropic_version: must be ${version}`);
    if (inPath && "model" in body) return refuseBody("model: Extra inputs are not permitted");
    const full = { ...received, body: { ...body, ...inPath } };
    return withParsedBody(
      (parsed) => planMessage(model, parsed, full, { dialect, isBinary }),
      refuseBody,
    )(full);
  }
}
