//! Arguments of `validate`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct ValidateArgs {
    /// JSON list of figures to use instead of the built-in ones (form: figures/published.json)
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) figures: Option<PathBuf>,

    /// Hold the drives against measured distributions instead of single figures: those of FILE, or the built-in ones
    /// (form: figures/shapes.json)
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["figures", "fit", "chart", "errors"])]
    pub(in crate::cli) shapes: Option<Option<PathBuf>>,

    /// Take the drives in the files *.toml of this folder as well; a file replaces the catalogue's of the same name
    #[arg(long, value_name = "DIR", conflicts_with = "reference")]
    pub(in crate::cli) profiles: Option<PathBuf>,

    /// With --shapes: draw a chart of each kind of test into this folder, KIND.svg, replacing earlier charts
    #[arg(long, value_name = "DIR", requires = "shapes")]
    pub(in crate::cli) charts: Option<PathBuf>,

    /// Fit the values marked as fitted in this file of drives/ to the figures allowed for that, and
    /// print them
    #[arg(long, value_name = "FAMILY", conflicts_with_all = ["json", "markdown"])]
    pub(in crate::cli) fit: Option<String>,

    /// Only the figures or distributions with these ids, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(in crate::cli) only: Vec<String>,

    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(in crate::cli) json: bool,

    /// Print Markdown, as in docs/FIDELITY.md, or with --shapes in docs/DISTRIBUTIONS.md
    #[arg(long, conflicts_with = "json")]
    pub(in crate::cli) markdown: bool,

    /// Also draw published against simulated into this SVG file, replacing an earlier chart
    #[arg(long, value_name = "FILE", conflicts_with = "fit")]
    pub(in crate::cli) chart: Option<PathBuf>,

    /// Write the error of each figure into this JSON file as well, for the bands of `choose`:
    /// figures/errors.json
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fit", "figures", "only", "profiles"])]
    pub(in crate::cli) errors: Option<PathBuf>,

    /// Instead, review the usual drive of each family, and write what single drives are shown among into this
    /// JSON file: figures/reference.json
    #[arg(long, value_name = "FILE", conflicts_with_all = ["figures", "shapes", "fit", "only", "json", "markdown", "chart", "errors"])]
    pub(in crate::cli) reference: Option<PathBuf>,

    /// Replace any other file of that name as well
    #[arg(long)]
    pub(in crate::cli) overwrite: bool,
}
