#include "gradus/kit/report/detail/html_text.h"

namespace gradus::kit {

// One column of text of a readable width; charts may use more of a wide screen. The named colours are those
// of charts (chart_style.cpp).
std::string report_style() {
  return R"css(
:root{color-scheme:light dark;--ink:#1c1d20;--soft:#55595f;--line:#dcdee3;--paper:#fff;--tint:#f4f5f7;--accent:#0065a3;
--blue:#0065a3;--green:#007a59;--orange:#b84a00;--purple:#9c3d7c;--yellow:#7d6200;--gray:#55595f}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e8e8e6;--soft:#a9adb3;--line:#3a3e45;--paper:#17191d;--tint:#202329;--accent:#7cc0f5;
--blue:#7cc0f5;--green:#3fcf9f;--orange:#ff9654;--purple:#eb94c8;--yellow:#e3c04a;--gray:#a9adb3}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1.0625rem/1.6 Charter,'Bitstream Charter','Iowan Old Style','Source Serif 4',Georgia,Cambria,serif}
.page{max-width:66rem;margin:0 auto;padding:clamp(1.25rem,4vw,4rem) clamp(1rem,4vw,3rem) 4rem}
.page>header,main>*,.page>footer{max-width:40rem}
main>.figures{max-width:none}
h1,h2,h3{line-height:1.2;font-weight:600;text-wrap:balance}
h1{font-size:clamp(1.75rem,1.3rem + 2vw,2.5rem);letter-spacing:-.015em;margin:0 0 .75rem}
h2{font-size:1.5rem;margin:3.25rem 0 .75rem;padding-top:1.25rem;border-top:1px solid var(--line)}
h3{font-size:1.15rem;margin:2rem 0 .5rem}
p,ul,ol{margin:0 0 1rem}
ul,ol{padding-left:1.25rem}
li{margin:.25rem 0}
a{color:var(--accent);text-underline-offset:.15em;text-decoration-thickness:1px}
code{font:.875em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--tint);padding:.1em .3em;border-radius:3px;overflow-wrap:anywhere}
.blue{color:var(--blue)}.green{color:var(--green)}.orange{color:var(--orange)}.purple{color:var(--purple)}.yellow{color:var(--yellow)}.gray{color:var(--gray)}
.lead{font-size:1.2rem;line-height:1.5;color:var(--soft)}
nav ol{list-style:none;padding:0;margin:1.5rem 0 0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;font-size:.95rem}
.verdict{margin:2rem 0;padding:1.1rem 1.4rem;background:var(--tint);border-left:4px solid var(--accent);border-radius:0 6px 6px 0}
.verdict p{font-size:1.2rem;line-height:1.45;margin:0}
.verdict ul{margin:.75rem 0 0}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr));gap:2rem 2.5rem;margin:1.75rem 0 2rem;align-items:start}
figure{margin:0;min-width:0;max-width:36rem}
.drawing svg{width:103%;max-width:none;margin-left:-1.5%}
figcaption{font-size:.95rem;line-height:1.5;color:var(--soft);margin:.6rem 0 .4rem}
details{font-size:.9rem}
summary{cursor:pointer;color:var(--accent);width:fit-content}
.scroll{overflow-x:auto;max-width:100%}
details .scroll{max-height:26rem;overflow-y:auto;margin-top:.5rem}
table{border-collapse:collapse;font:.84rem/1.4 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-variant-numeric:tabular-nums;margin:.25rem 0 1rem}
caption{text-align:left;color:var(--soft);padding-bottom:.4rem}
th,td{padding:.3rem 1.4rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-weight:600}
td.n,th.n{text-align:right;white-space:nowrap}
.facts td:first-child{color:var(--soft);white-space:nowrap}
.facts td{overflow-wrap:anywhere}
figure.wide .drawing svg{width:101.5%;margin-left:-.75%}
figure.wide{grid-column:1/-1;max-width:58rem}
@media (max-width:36rem){td.n{white-space:normal}th,td{padding-right:.8rem}figure.wide .drawing{overflow-x:auto}figure.wide svg{min-width:34rem}}
@media print{body{font-size:10.5pt}.page{max-width:none;padding:0}h2,h3,figcaption{break-after:avoid}figure,.verdict,tr{break-inside:avoid}nav,details{display:none}.scroll{overflow:visible}th,td{padding-right:.6rem;white-space:normal;overflow-wrap:anywhere}a{color:inherit;text-decoration:none}}
)css";
}

}  // namespace gradus::kit
