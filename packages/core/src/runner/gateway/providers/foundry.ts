import { anthropicRoutes } from "./anthropic-routes.ts";
import type { ProviderProtocol } from "./contract.ts";

/** Microsoft Foundry: the Messages API with a key of the resource, or a token of Entra ID. */
export const foundry: ProviderProtocol = {
  routes: () => anthropicRoutes,
  clientVariables: (baseUrl, _provider, placeholder) => ({
    CLAUDE_CODE_USE_FOUNDRY: "1",
    ANTHROPIC_FOUNDRY_BASE_URL: baseUrl,
    ANTHROPIC_FOUNDRY_API_KEY: placeholder,
  }),
  probePath: () => "/v1/messages",
};
