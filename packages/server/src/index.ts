export { createApp } from "./create-app.ts";
export { type FleetServer, serveOnSocket } from "./serve-on-socket.ts";
