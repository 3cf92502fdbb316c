// SPDX-License-Identifier: Apache-2.0
#include "lab/report/html_text.h"

namespace hearth::lab {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--bg:#faf9f6;--card:#fff;--ink:#211f1b;--dim:#6a655c;--line:#e5e1d9;
--s0:#c2410c;--s1:#2563a8;--s2:#7652b0;--s3:#2a7f5c;--s4:#8d6b12;--s5:#a8325f;
--queue:#9a948a;--artifact:#8b5cc7;--pages:#3b78c4;--weights:#e07b39;--compiled:#2a9d8f;
--prefix:#6a9a2d;--prompt:#b8a42a;--decode:#cf6fa0;--other:#b9b3a8;--untold:#c9c4ba;--bad:#b42318}
@media(prefers-color-scheme:dark){:root{--bg:#161513;--card:#201e1b;--ink:#ece8e1;--dim:#a59f94;
--line:#38342e;--s0:#f58a4b;--s1:#6fabec;--s2:#b39be6;--s3:#66c49a;--s4:#d6b65c;--s5:#ea7fa8;
--queue:#8d877d;--artifact:#b08ae8;--pages:#6aa3ea;--weights:#f0975a;--compiled:#4fc0b1;
--prefix:#9acb57;--prompt:#d8c653;--decode:#e592bd;--other:#6f6a61;--untold:#5a564e;--bad:#ff8a7a}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",
Roboto,sans-serif;-webkit-text-size-adjust:100%;overflow-wrap:anywhere}
main{max-width:1080px;margin:0 auto;padding:1.2rem 1rem 4rem}
h1{font-size:1.7rem;line-height:1.2;margin:.4rem 0}
h2{font-size:1.2rem;margin:2.4rem 0 .3rem}
h3{font-size:1rem;margin:0}
p{margin:.3rem 0}.dim,small,.about{color:var(--dim)}small{font-size:.8rem}
.about{font-size:.88rem;margin:0 0 .3rem}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.8rem 0;font-size:.9rem}
a{color:var(--s1)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(14.5rem,100%),1fr));gap:.7rem;
margin:1rem 0}
.card,article{background:var(--card);border:1px solid var(--line);border-radius:10px;
padding:.75rem .9rem}
article{margin:.6rem 0}
.card b{display:block;font-size:1.45rem;line-height:1.25;font-variant-numeric:tabular-nums}
.row{display:grid;grid-template-columns:9rem minmax(0,1fr) 14.5rem;gap:0 .8rem;align-items:center;
padding:.12rem 0}
.row>svg{display:block;width:100%;overflow:visible}
.who{font-weight:600;font-size:.9rem}.val{font-variant-numeric:tabular-nums;font-size:.95rem}
.val small{display:block;line-height:1.3}
.sub .who{font-weight:400;font-size:.82rem;padding-left:.8rem;color:var(--dim)}
.sub .val{font-size:.82rem;color:var(--dim)}.sub{padding:0}
.why{font-size:.9rem;border-left:3px solid var(--s0);padding-left:.6rem;margin:.5rem 0 .1rem}
.legend{display:flex;flex-wrap:wrap;gap:.2rem .9rem;font-size:.83rem;color:var(--dim);
margin:.4rem 0}
.legend svg{vertical-align:-2px;margin-right:.3rem}
details{margin:.35rem 0}summary{cursor:pointer;font-size:.85rem;color:var(--dim)}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:10px;background:var(--card);
margin:.6rem 0}
table{border-collapse:collapse;width:100%;font-size:.84rem;font-variant-numeric:tabular-nums;
overflow-wrap:normal}
th,td{text-align:right;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;
white-space:nowrap}
tr:last-child td,tr:last-child th{border-bottom:0}
th{font-weight:600}thead th{color:var(--dim);font-size:.78rem}
tbody th{text-align:left;position:sticky;left:0;background:var(--card)}
thead th:first-child{text-align:left;position:sticky;left:0;background:var(--card)}
td small{display:block}td.text{text-align:left;white-space:normal;min-width:14rem}
.arm th,.arm td{border-top:2px solid var(--line)}
.bad{color:var(--bad)}
dl{display:grid;grid-template-columns:minmax(7rem,auto) 1fr;gap:.1rem .9rem;margin:.2rem 0;
font-size:.9rem}dt{color:var(--dim)}dd{margin:0}dd dl{border-left:2px solid var(--line);
padding-left:.7rem}
svg text{fill:var(--dim);font:11px system-ui,sans-serif}
.grid{stroke:var(--line);stroke-width:1}
.c0{--c:var(--s0)}.c1{--c:var(--s1)}.c2{--c:var(--s2)}.c3{--c:var(--s3)}.c4{--c:var(--s4)}
.c5{--c:var(--s5)}
.queue{--c:var(--queue)}.artifact{--c:var(--artifact)}.pages{--c:var(--pages)}
.weights{--c:var(--weights)}.compiled{--c:var(--compiled)}.prefix{--c:var(--prefix)}
.prompt{--c:var(--prompt)}.decode{--c:var(--decode)}.other{--c:var(--other)}
.untold{--c:var(--untold)}
.who,.ink{color:var(--c,var(--ink))}
.dot{fill:var(--c);fill-opacity:.55}.hollow{fill:none;stroke:var(--c);stroke-opacity:.6;
stroke-dasharray:2 1.5}
.box{fill:var(--c);fill-opacity:.16;stroke:var(--c);stroke-opacity:.45}
.mid{stroke:var(--c);stroke-width:2.5}.span{stroke:var(--c);stroke-width:5;stroke-opacity:.55}
.fill{fill:var(--c)}.pale{fill:var(--c);fill-opacity:.3;stroke:var(--c)}
.line{stroke:var(--c);stroke-width:2}.dashed .line{stroke-dasharray:6 4}.hair{stroke:var(--c);
stroke-width:1.5}
.token{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:3 2}
@media(max-width:760px){.row{grid-template-columns:minmax(0,1fr) auto;grid-template-areas:
"who val" "plot plot";gap:0 .6rem;padding:.25rem 0}.who{grid-area:who}.val{grid-area:val;
text-align:right}.row>svg{grid-area:plot}.sub .who{padding-left:0}
.axis .who,.axis .val{display:none}
tbody th,thead th:first-child{white-space:normal;max-width:8.5rem}
main{padding:.8rem .7rem 3rem}h1{font-size:1.4rem}}
@media print{body{background:#fff}article{break-inside:avoid}}
)css";

}  // namespace

std::string_view page_style() { return kStyle; }

}  // namespace hearth::lab
