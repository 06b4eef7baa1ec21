import type { ProviderRoute } from "./contract.ts";

/**
 * The paths of the Messages API, which several providers speak. Probes need no key and send no
 * credential; the binaries use them to test the connection.
 */
export const anthropicRoutes: readonly ProviderRoute[] = [
  { method: "POST", path: /* defence: gateway-routes */ /^\/v1\/messages$/, use: "message" },
  { method: "POST", path: /^\/v1\/messages\/count_tokens$/, use: "free" },
  { method: "GET", path: /^\/v1\/models(\/[A-Za-z0-9][A-Za-z0-9._:-]*)?$/, use: "free" },
  { method: "HEAD", path: /^\/(api\/hello)?$/, use: "probe" },
];
