export { Access } from "./access/access.ts";
export { readOnlyToken } from "./access/keys.ts";
export { readToken } from "./access/token-file.ts";
export { type AppOptions, createApp, type FleetApp } from "./create-app.ts";
export { openApiDocument } from "./openapi-document.ts";
export type { PortServer } from "./port/listen-on-port.ts";
export { type ServePortOptions, servePort } from "./port/serve-port.ts";
export { type FleetServer, serveOnSocket } from "./serve-on-socket.ts";
