export { type AppOptions, createApp, type FleetApp } from "./create-app.ts";
export { type HooksServer, type ServeHooksOptions, serveHooks } from "./hooks/serve-hooks.ts";
export { openApiDocument } from "./openapi-document.ts";
export { type FleetServer, serveOnSocket } from "./serve-on-socket.ts";
