//! What every page shares: skeleton, style, plotly, and the data that it embeds.

use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

const SKELETON: &str = include_str!("../../assets/page.html");
const CHART: &str = include_str!("../../assets/chart.html");
const STYLE: &str = include_str!("../../assets/report.css");
const PLOTLY: &str = include_str!("../../assets/plotly/plotly-basic.min.js");
const PLOTLY_LICENCE: &str = include_str!("../../assets/plotly/LICENSE");
/// Before and after the scripts of a page, in the order in which they depend on each other.
const FIRST: [&str; 2] =
    [include_str!("../../assets/units.js"), include_str!("../../assets/chart.js")];
const LAST: &str = include_str!("../../assets/draw.js");

/// One kind of page.
pub struct Kind {
    /// Fills the blocks `sections` and `content` of the skeleton.
    pub template: &'static str,
    /// The template that it extends in place of the skeleton, by its name there.
    pub extends: Option<(&'static str, &'static str)>,
    /// Register charts.
    pub charts: &'static [&'static str],
    /// Run when all charts are drawn for the first time.
    pub after: &'static [&'static str],
}

/// What the skeleton names, and with it what the page's own template names.
#[derive(Serialize)]
struct Whole<'a, T> {
    title: &'a str,
    style: &'static str,
    plotly: &'static str,
    plotly_licence: &'static str,
    scripts: String,
    results: String,
    #[serde(flatten)]
    own: &'a T,
}

/// Makes the page; `json` is what it embeds for its charts and for whoever reads it by program.
///
/// # Panics
/// When a template and the code that fills it disagree, which any test of the page shows.
pub fn render<T: Serialize>(kind: &Kind, title: &str, json: &[u8], own: &T) -> Vec<u8> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    let shared = [("page.html", SKELETON), ("chart.html", CHART), ("own.html", kind.template)];
    for (name, text) in shared.into_iter().chain(kind.extends) {
        environment.add_template(name, text).expect("the template is well-formed");
    }
    let scripts: Vec<&str> =
        [&FIRST[..], kind.charts, &[LAST], kind.after].into_iter().flatten().copied().collect();
    let whole = Whole {
        title,
        style: STYLE,
        plotly: PLOTLY,
        plotly_licence: PLOTLY_LICENCE,
        scripts: scripts.join("\n"),
        results: embeddable(json),
        own,
    };
    environment
        .get_template("own.html")
        .and_then(|template| template.render(Serde(&whole)))
        .expect("the template's names are those given to it")
        .into_bytes()
}

/// JSON, safe inside a script element: neither an end tag nor a comment can begin in it.
fn embeddable(json: &[u8]) -> String {
    String::from_utf8_lossy(json).replace('<', "\\u003c")
}
