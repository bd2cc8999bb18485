// Live pages: times in the reader's zone, parts replaced when something happened, buttons.
"use strict";

const LOOK_AGAIN_MS = 5000;
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const distance = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });
const byId = (id) => document.getElementById(id);

// Times

function ago(moment) {
  const seconds = (moment - Date.now()) / 1000;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size) return distance.format(Math.round(seconds / size), unit);
  }
  return distance.format(Math.round(seconds), "second");
}

function due(moment) {
  return moment < Date.now() - 1000 ? `due ${ago(moment)}` : ago(moment);
}

function writeTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    const text = { ago, due }[time.dataset.style]?.(moment) ?? full.format(moment);
    if (time.textContent !== text) time.textContent = text;
    time.title = `${full.format(moment)} ${zone}`;
  }
}

// Parts that are replaced

let fetching = false;
let again = false;

async function update() {
  if (fetching) { again = true; return; }
  fetching = true;
  try {
    if (byId("graph")) await updateGraph(); else await updateParts();
    if (told.readyState === EventSource.OPEN) showLive("live", true);
  } catch (error) {
    showLive("not connected", false);
  }
  fetching = false;
  if (again) { again = false; setTimeout(update, 300); }
}

async function updateParts() {
  const parts = document.querySelectorAll("[data-live]");
  if (!parts.length) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(answer.status);
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  writeTimes(next);
  for (const part of parts) {
    const found = next.querySelector(`[data-live="${part.dataset.live}"]`);
    if (found) replacePart(part, found);
  }
  document.querySelectorAll("[data-follows]").forEach(followFact);
}

// Rows are loaded once; another version of the table has others.
function followFact(place) {
  const isOld = Date.now() - Number(place.dataset.loadedAt) >= LOOK_AGAIN_MS;
  if (isOld && place.dataset.seen !== followedFact(place)) loadPart(place);
}

function followedFact(place) {
  return document.querySelector(`[data-fact="${place.dataset.follows}"]`)?.textContent;
}

function replacePart(part, found) {
  // What the reader is doing stays: places of scrolling, the filter, open details, the focus.
  const opened = [...part.querySelectorAll("details")].map((item) => item.open);
  found.querySelectorAll("details").forEach((item, index) => { item.open = Boolean(opened[index]); });
  const filter = part.querySelector("[data-filter]");
  if (filter) filterRows(found.querySelector(`#${filter.dataset.filter}`), filter.value);
  if (part.innerHTML === found.innerHTML && part.className === found.className) return;
  const boxes = [...part.querySelectorAll(".scroll")].map((box) => [box.scrollLeft, box.scrollTop]);
  const focused = part.contains(document.activeElement) ? focusPath(part) : null;
  const fresh = document.importNode(found, true);
  // The field itself moves over, with what is being typed into it.
  if (filter) fresh.querySelector("[data-filter]").replaceWith(filter);
  part.replaceWith(fresh);
  fresh.querySelectorAll(".scroll").forEach((box, index) => {
    if (boxes[index]) [box.scrollLeft, box.scrollTop] = boxes[index];
  });
  if (focused !== null) fresh.querySelectorAll("a, button, input, summary, [tabindex]")[focused]?.focus();
}

function focusPath(part) {
  return [...part.querySelectorAll("a, button, input, summary, [tabindex]")].indexOf(document.activeElement);
}

// The graph: only colours and notes change, its boxes stay where they are

async function updateGraph() {
  const answer = await fetch("/api/conditions");
  if (!answer.ok) throw new Error(answer.status);
  const known = new Map((await answer.json()).map((item) => [item.name, item]));
  for (const node of document.querySelectorAll(".node.table")) {
    const item = known.get(node.dataset.name);
    if (!item) continue;
    const matched = [...node.classList].filter((word) => word === "dim" || word === "match");
    node.setAttribute("class", ["node", "table", `is-${item.condition}`, ...matched].join(" "));
    const lag = item.lag_seconds ? ` · lag ${duration(item.lag_seconds)}` : "";
    node.querySelector(".note").textContent = item.condition + lag;
  }
}

function duration(seconds) {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.floor(seconds + 0.05);
  const parts = whole < 3600 ? [[60, "min"], [1, "s"]] : whole < 86400 ? [[3600, "h"], [60, "min"]] : [[86400, "d"], [3600, "h"]];
  const rest = Math.floor((whole % parts[0][0]) / parts[1][0]);
  return `${Math.floor(whole / parts[0][0])} ${parts[0][1]}` + (rest ? ` ${rest} ${parts[1][1]}` : "");
}

function searchGraph(text) {
  const wanted = text.trim().toLowerCase();
  let first = null;
  let count = 0;
  for (const node of document.querySelectorAll(".node")) {
    const hit = wanted !== "" && node.dataset.name.toLowerCase().includes(wanted);
    node.classList.toggle("match", hit);
    node.classList.toggle("dim", wanted !== "" && !hit);
    if (hit) { count += 1; first = first || node; }
  }
  if (first) first.scrollIntoView({ block: "center", inline: "center" });
  byId("graph-found").textContent = wanted ? `${count} match; Enter shows only these` : "";
}

// Filters of long tables

function filterRows(body, text) {
  const wanted = text.trim().toLowerCase();
  for (const row of body.rows) {
    row.hidden = wanted !== "" && !(row.dataset.name || "").toLowerCase().includes(wanted);
  }
}

// Changes

function say(text, wrong) {
  const toast = byId("toast");
  toast.textContent = text;
  toast.classList.toggle("wrong", Boolean(wrong));
  toast.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => toast.classList.remove("shown"), 6000);
}

async function post(address, body) {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: body || undefined,
  });
  return [answer.status, await answer.json()];
}

async function change(button) {
  if (document.body.dataset.unlocked !== "yes") { byId("unlock").showModal(); return; }
  if (button.dataset.ask && !confirm(button.dataset.ask)) return;
  button.disabled = true;
  const [status, answer] = await post(button.dataset.post, button.dataset.body);
  button.disabled = false;
  if (status === 401) { document.body.dataset.unlocked = "no"; byId("unlock").showModal(); return; }
  if (status >= 400) say(`${answer.message}. ${answer.hint || ""}`, true);
  else say(answer.kind ? `${answer.kind} of ${answer.table} has started` : answer.done ? "done" : "nothing was running");
  update();
}

async function unlock(event) {
  event.preventDefault();
  const token = byId("token");
  const [status, answer] = await post("/api/log_in", JSON.stringify({ token: token.value }));
  byId("unlock-wrong").textContent = status < 400 ? "" : answer.message;
  if (status >= 400) return;
  token.value = "";
  document.body.dataset.unlocked = "yes";
  byId("lock").textContent = "Lock";
  byId("unlock").close();
  say("unlocked for this browser");
}

async function toggleLock() {
  if (document.body.dataset.unlocked !== "yes") { byId("unlock").showModal(); return; }
  await post("/api/log_out");
  document.body.dataset.unlocked = "no";
  byId("lock").textContent = "Unlock";
  say("locked");
}

function switchTheme() {
  const root = document.documentElement;
  const next = { undefined: "dark", dark: "light", light: undefined }[root.dataset.theme];
  if (next) root.dataset.theme = next; else delete root.dataset.theme;
  try {
    if (next) localStorage.setItem("theme", next); else localStorage.removeItem("theme");
  } catch (error) { /* no storage: the choice holds for this page */ }
  say(next ? `theme: ${next}` : "theme: as the system");
}

// Start

function showLive(text, on) {
  byId("live").textContent = text;
  byId("live").classList.toggle("on", on);
}

const told = new EventSource("/api/changes");

function listen() {
  // The first word comes with the connection: it brings what happened since the page was made.
  told.addEventListener("change", () => {
    showLive("live", true);
    if (!document.hidden) update();
  });
  told.onerror = () => showLive("not connected", false);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) update(); });
  addEventListener("pagehide", () => told.close());
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}

async function loadPart(place) {
  place.dataset.loadedAt = Date.now();
  place.dataset.seen = followedFact(place);
  const answer = await fetch(place.dataset.load, { headers: { Accept: "text/html" } });
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  place.replaceChildren(found.querySelector("[data-part]") || found.querySelector("main"));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-post]");
  if (button) change(button);
});
document.addEventListener("input", (event) => {
  if (event.target.matches("[data-filter]")) filterRows(byId(event.target.dataset.filter), event.target.value);
  if (event.target.id === "graph-search") searchGraph(event.target.value);
});
byId("theme").addEventListener("click", switchTheme);
byId("lock").addEventListener("click", toggleLock);
byId("unlock-form").addEventListener("submit", unlock);
byId("unlock-cancel").addEventListener("click", () => byId("unlock").close());
document.querySelectorAll("[data-load]").forEach(loadPart);
writeTimes(document);
setInterval(() => writeTimes(document), 1000);
// Lags grow, and leaders die, without anything that happens and is told.
setInterval(() => { if (!document.hidden) update(); }, LOOK_AGAIN_MS);
listen();
