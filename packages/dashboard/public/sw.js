// The service worker of the installed app. It keeps the files of the dashboard, so that the app opens
// while the fleet is away and says so, and it shows notifications. It never stores data of the fleet.
const cacheName = "dashboard";
const assetPattern = /^\/(?:assets\/|icon|theme\.js|manifest\.webmanifest)/;
const notPagePattern = /^\/(?:v1|hooks|mcp|login|logout|metrics|healthz|readyz)(?:\/|\.|$)/;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate" && !notPagePattern.test(pathname))
    event.respondWith(fromNetwork(request, "/"));
  else if (pathname.startsWith("/assets/")) event.respondWith(fromCache(request));
  else if (assetPattern.test(pathname)) event.respondWith(fromNetwork(request, pathname));
});

/** Files whose names contain a hash of their content never change. */
async function fromCache(request) {
  const cache = await caches.open(cacheName);
  return (await cache.match(request)) ?? store(cache, request.url, await fetch(request));
}

/** All pages are the same file: the dashboard routes in the browser. */
async function fromNetwork(request, key) {
  const cache = await caches.open(cacheName);
  try {
    return await store(cache, key, await fetch(request));
  } catch (error) {
    const stored = await cache.match(key);
    if (stored) return stored;
    throw error;
  }
}

async function store(cache, key, response) {
  if (response.ok) await cache.put(key, response.clone());
  return response;
}

self.addEventListener("push", (event) => event.waitUntil(showQuestion(event.data?.json() ?? {})));

/** A browser ends the subscription of a page that shows no notification for a message. */
function showQuestion({ title = "An agent has a question", body = "", approval }) {
  const tag = approval ?? undefined;
  const options = { body, tag, icon: "/icon-192.png", data: { path: "/inbox" } };
  return self.registration.showNotification(title, options);
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPage(event.notification.data?.path ?? "/"));
});

async function openPage(path) {
  const [window] = await self.clients.matchAll({ type: "window" });
  if (!window) return self.clients.openWindow(path);
  // A browser may refuse both: it allows a focus only for a short time after the click.
  await window.focus().catch(() => undefined);
  return window.navigate(path).catch(() => self.clients.openWindow(path));
}
