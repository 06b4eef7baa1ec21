import { anthropicRoutes } from "./anthropic-routes.ts";
import type { ProviderProtocol } from "./contract.ts";

/** An LLM gateway that speaks the Messages API. */
export const custom: ProviderProtocol = {
  routes: () => anthropicRoutes,
  clientVariables: (baseUrl, _provider, placeholder) => ({
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_API_KEY: placeholder,
  }),
  probePath: () => "/v1/messages",
};
