// Which claims are shown: by verdict, and by a word in them.

const verdicts = document.getElementById("verdicts");

function filterClaims() {
  const shown = new Set([...verdicts.querySelectorAll("input:checked")].map((box) => box.value));
  const word = verdicts.querySelector("input[type=search]").value.trim().toLowerCase();
  for (const row of document.querySelectorAll("tr.claim")) {
    row.hidden = !shown.has(row.dataset.verdict)
      || !row.textContent.toLowerCase().includes(word);
  }
}

verdicts.addEventListener("input", filterClaims);
