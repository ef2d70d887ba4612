//! Stand-ins for the attributes of device code, for checking it with plain rustc: each drops itself and every known
//! attribute inside its item, and keeps all other tokens with their spans.
extern crate proc_macro;
use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

const KNOWN: &[&str] = &[
    "kernel", "device", "launch_bounds", "launch_contract", "cluster_launch", "cooperative_launch", "constant", "unroll",
    "convergent", "pure", "readonly", "cuda_module",
];

// The last path segment of `[a::b(..)]`.
fn attribute_name(group: &Group) -> String {
    let mut name = String::new();
    for token in group.stream() {
        match token {
            TokenTree::Ident(ident) => name = ident.to_string(),
            TokenTree::Punct(punct) if punct.as_char() == ':' => {}
            _ => break,
        }
    }
    name
}

fn strip(stream: TokenStream) -> TokenStream {
    let mut out = Vec::new();
    let mut tokens = stream.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if let TokenTree::Punct(punct) = &token {
            if punct.as_char() == '#' {
                if let Some(TokenTree::Group(group)) = tokens.peek() {
                    if group.delimiter() == Delimiter::Bracket && KNOWN.contains(&attribute_name(group).as_str()) {
                        tokens.next();
                        continue;
                    }
                }
            }
        }
        out.push(match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), strip(group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => other,
        });
    }
    out.into_iter().collect()
}

macro_rules! attributes {
    ($($name:ident)*) => {$(
        #[proc_macro_attribute]
        pub fn $name(_arguments: TokenStream, item: TokenStream) -> TokenStream {
            strip(item)
        }
    )*};
}
attributes! { kernel device launch_bounds launch_contract cluster_launch cooperative_launch constant unroll convergent pure readonly cuda_module }
