export { type AppOptions, createApp, type FleetApp } from "./create-app.ts";
export { createHooksApp, type HooksApp, type HooksOptions } from "./hooks/create-hooks-app.ts";
export { type HooksServer, type ServeHooksOptions, serveHooks } from "./hooks/serve-hooks.ts";
export { type Deadlines, type PortServer, serveOnPort } from "./hooks/serve-on-port.ts";
export { openApiDocument } from "./openapi-document.ts";
export { type FleetServer, serveOnSocket } from "./serve-on-socket.ts";
