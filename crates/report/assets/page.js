// Makes the configuration searchable.

function filterConfiguration() {
  const search = document.getElementById("config-search");
  const differences = document.getElementById("config-differences");
  const rows = [...document.querySelectorAll("#config tbody tr")];
  const apply = () => {
    const wanted = search.value.trim().toLowerCase();
    for (const row of rows) {
      const found = row.textContent.toLowerCase().includes(wanted);
      const told = !differences?.checked || row.classList.contains("differs");
      row.hidden = !(found && told);
    }
    document.getElementById("config-none").hidden = rows.some((row) => !row.hidden);
  };
  search.addEventListener("input", apply);
  differences?.addEventListener("change", apply);
}

filterConfiguration();
