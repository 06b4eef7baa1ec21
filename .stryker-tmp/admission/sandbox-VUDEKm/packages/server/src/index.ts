export { deriveReadOnlyToken } from "./auth/auth-secrets.ts";
export { Authenticator } from "./auth/authenticator.ts";
export { readToken } from "./auth/token-file.ts";
export { type AppOptions, createApp, type FleetApp } from "./create-app.ts";
export type { HttpServer } from "./http/listen-http.ts";
export { type ServeHttpOptions, serveHttp } from "./http/serve-http.ts";
export { createOpenApiDocument } from "./openapi-document.ts";
export { type FleetServer, serveOnSocket } from "./serve-on-socket.ts";
