import { callFleet } from "../api/call-fleet.ts";
import { onFleetEvent } from "../api/fleet-events.ts";
import { toNotification } from "./notifications.ts";

const storageKey = "notifications";

const pushStorageKey = "push-subscription";

/** `push`: also while no page of the dashboard is open. */
export type NotificationState = "push" | "on" | "off" | "denied" | "unsupported";

export function readNotificationState(): NotificationState {
  if (!("Notification" in window) || !("serviceWorker" in navigator)) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  const isOn = localStorage.getItem(storageKey) === "on" && Notification.permission === "granted";
  if (!isOn) return "off";
  return localStorage.getItem(pushStorageKey) === null ? "on" : "push";
}

/** Asks the user for permission if needed. */
export async function switchNotifications(isOn: boolean): Promise<NotificationState> {
  localStorage.setItem(storageKey, isOn ? "on" : "off");
  if (isOn && Notification.permission === "default") await Notification.requestPermission();
  await updatePushSubscription();
  return readNotificationState();
}

/** Repeated at each start: a subscription ends with the login that made it. */
export async function updatePushSubscription(): Promise<void> {
  try {
    if (isNotifying()) await subscribe();
    else await unsubscribe();
  } catch {
    // A browser without a push service notifies only while the dashboard is open.
    localStorage.removeItem(pushStorageKey);
  }
}

async function subscribe(): Promise<void> {
  const { pushManager } = await navigator.serviceWorker.ready;
  const { key } = await callFleet("pushKey");
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const subscription = await pushManager.subscribe(options).catch(async (error: unknown) => {
    // Subscribed with the key of an earlier state of the fleet.
    const earlier = await pushManager.getSubscription();
    if (!(await earlier?.unsubscribe())) throw error;
    return pushManager.subscribe(options);
  });
  const { endpoint, keys: { p256dh = "", auth = "" } = {} } = subscription.toJSON();
  const body = { endpoint: endpoint ?? "", keys: { p256dh, auth } };
  const { id } = await callFleet("subscribePush", { body });
  localStorage.setItem(pushStorageKey, id);
}

async function unsubscribe(): Promise<void> {
  const id = localStorage.getItem(pushStorageKey);
  if (id === null) return;
  localStorage.removeItem(pushStorageKey);
  const { pushManager } = await navigator.serviceWorker.ready;
  await (await pushManager.getSubscription())?.unsubscribe();
  await callFleet("unsubscribePush", { params: { id } });
}

function isNotifying(): boolean {
  return ["on", "push"].includes(readNotificationState());
}

/** Keeps the files of the dashboard, so that the installed app opens while the fleet is away. */
export async function registerServiceWorker(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  // A browser may refuse it, such as in a private window. The dashboard works without it.
  await navigator.serviceWorker.register("/sw.js").catch(() => undefined);
}

/**
 * Notifies of questions, permission requests and failures while the dashboard is open but not in
 * sight. Several tabs show one notification, because it has the same tag in each.
 */
export function notifyWhileHidden(): () => void {
  return onFleetEvent((event) => {
    if (!document.hidden || !isNotifying()) return;
    const notification = toNotification(event);
    if (!notification?.isUrgent) return;
    const { title, description, path } = notification;
    const tag = "approval" in event ? event.approval.id : path;
    void navigator.serviceWorker.ready.then((registration) =>
      registration.showNotification(title, {
        body: description,
        tag,
        icon: "/icon-192.png",
        data: { path },
      }),
    );
  });
}
