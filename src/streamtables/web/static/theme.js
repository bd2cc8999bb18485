// Before the first paint: the theme that this reader chose, if any.
(function () {
  "use strict";
  var chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch (error) { /* no storage, no choice */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
