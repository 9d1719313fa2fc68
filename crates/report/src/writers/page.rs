//! What every page shares: skeleton, style, plotly, and the data that it embeds. A page is one
//! file; only where a folder has many of them plotly, most of what they weigh, stands beside.

use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

const SKELETON: &str = include_str!("../../assets/page.html");
const CHART: &str = include_str!("../../assets/chart.html");
const HEAD: &str = include_str!("../../assets/head.html");
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
    /// Another template that it stands on, by its name there.
    pub extends: Option<(&'static str, &'static str)>,
    /// Its charts.
    pub charts: Charts,
    /// Run when all charts are drawn for the first time.
    pub after: &'static [&'static str],
}

/// The scripts that register charts, and where what draws them is.
#[derive(Clone, Copy)]
pub enum Charts {
    /// There are none.
    None,
    /// In the page, which is one file.
    Within(&'static [&'static str]),
    /// In a file beside it, which many pages share: [`plotly`].
    Beside(&'static str, &'static [&'static str]),
}

/// What draws charts, with its licence.
pub fn plotly() -> String {
    format!("/*\n{PLOTLY_LICENCE}\n*/\n{PLOTLY}")
}

/// What the skeleton names, and with it what the page's own template names.
#[derive(Serialize)]
struct Whole<'a, T> {
    title: &'a str,
    style: &'static str,
    /// Empty where the page does not hold it.
    plotly: String,
    /// The file that holds it; empty where there is none.
    plotly_beside: &'static str,
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
    let shared = [
        ("page.html", SKELETON),
        ("chart.html", CHART),
        ("head.html", HEAD),
        ("own.html", kind.template),
    ];
    for (name, text) in shared.into_iter().chain(kind.extends) {
        environment.add_template(name, text).expect("the template is well-formed");
    }
    let (plotly, plotly_beside, charts) = match kind.charts {
        Charts::None => (String::new(), "", None),
        Charts::Within(scripts) => (plotly(), "", Some(scripts)),
        Charts::Beside(file, scripts) => (String::new(), file, Some(scripts)),
    };
    let drawing = charts.map_or_else(Vec::new, |own| [&FIRST[..], own, &[LAST]].concat());
    let scripts: Vec<&str> = drawing.into_iter().chain(kind.after.iter().copied()).collect();
    let whole = Whole {
        title,
        style: STYLE,
        plotly,
        plotly_beside,
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
