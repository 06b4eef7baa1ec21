export { type AppOptions, createApp, type FleetApp } from "./create-app.ts";
export { openApiDocument } from "./openapi-document.ts";
export { type FleetServer, serveOnSocket } from "./serve-on-socket.ts";
