"""Program records of programs that read files, one after the other or side by side."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import split_arguments
from permissions.shell.program import Program, ReadOnly, Risk
from permissions.shell.programs.common_arguments import (
    input_output,
    listed_files,
    no_option_file,
    one_operand,
    reads,
)
from permissions.shell.syntax import Word


def sort(words: Sequence[Word]) -> list[Access]:
    """Return what sort reads and writes."""
    arguments = split_arguments(
        words,
        value_letters="kStoT",
        value_options=names("--output --key --files0-from --field-separator"),
    )
    return [
        *each(AccessKind.READ, arguments.operands),
        *each(AccessKind.READ, arguments.values("--files0-from")),
        *listed_files(arguments),
        *each(AccessKind.WRITE, arguments.values("-o", "--output", "-T", "--temporary-directory")),
    ]


def uniq(words: Sequence[Word]) -> list[Access]:
    """Return what uniq reads and writes: its second operand."""
    arguments = split_arguments(
        words, value_letters="fsw", value_options=names("--skip-fields --skip-chars --check-chars")
    )
    return input_output(arguments.operands)


def hex_dump(words: Sequence[Word]) -> list[Access]:
    # xxd does not combine short options: `-ps` is a single option.
    arguments = split_arguments(words, value_options=_XXD_VALUED, single_dash=True)
    return input_output(arguments.operands)


_XXD_VALUED = names("-c -cols -l -len -s -seek -skip -o -offset -g -group -groupsize -n -name -R")


def less_risk(_program: str, words: Sequence[Word]) -> str:
    """Return the risk if a word is a command for less; "" otherwise."""
    is_command = any(word.plain.startswith("+") for word in words)
    return "less + runs a command of its own" if is_command else ""


PROGRAMS = (
    Program("cat", accesses=reads(), read_only=ReadOnly("AbeEnstTuv", "", "--number "
        "--number-nonblank --show-all --squeeze-blank")),
    Program("tac", accesses=reads("s"), read_only=ReadOnly("br", "s")),
    Program("nl", accesses=reads("bdfhilnsvw"), read_only=ReadOnly("p", "bdfhilnsvw")),
    Program("rev zcat bzcat xzcat", accesses=reads(), read_only=ReadOnly()),
    Program("wc", accesses=reads(), read_only=ReadOnly("clmLw", "", "--bytes --chars --lines "
        "--max-line-length --words")),
    Program("sum sha224sum sha384sum b2sum getfacl lsattr zless gzcat zstdcat lz4cat xzless bzless "
        "zmore ldd", accesses=reads()),
    Program("md5sum sha1sum sha256sum sha512sum", accesses=reads(), read_only=ReadOnly("bt")),
    Program("cksum", accesses=reads(), read_only=ReadOnly("", "a")),
    Program("comm", accesses=reads(), read_only=ReadOnly("123")),
    Program("cmp", accesses=reads("in"), read_only=ReadOnly("bls", "in")),
    Program("head tail", accesses=reads("ncs", counts=True), read_only=ReadOnly("qvz0123456789",
        "nc", "--bytes --lines --quiet --verbose")),
    Program("more", accesses=reads("pPtxyz"),
        code_starts=r"(?:^\+?|\n|\|)[: \t]*[\d$%,]*!([^\n]+)"),
    Program("most", accesses=reads("pPtxyz")),
    Program("less", accesses=reads("pPtxyz", "k"),
        code_starts=r"(?:^\+?|\n|\|)[: \t]*[\d$%,]*!([^\n]+)", risk=Risk("oOkK",
        "--lesskey-content --lesskey-file --lesskey-src --log-file", value_letters="pPtTxyzbhj"),
        risk_check=less_risk),
    Program("bat batcat", accesses=reads("lHrm"), risk=Risk(long="--config-file --lessopen --pager",
        value_letters="lrmHp")),
    Program("delta", accesses=reads(), risk=Risk(long="--pager")),
    Program("od", accesses=reads("AjNtS"), read_only=ReadOnly("bcdfilosxv", "AjNtSw")),
    Program("hexdump", accesses=reads("nse", "f"), read_only=ReadOnly("bcCdovx", "ens")),
    Program("hd", accesses=reads("nse", "f")),
    Program("xxd", accesses=hex_dump, risk=Risk("r", value_letters="clsogR"),
        read_only=ReadOnly("abeiEpu",
        "clsgo", check=one_operand)),
    Program("strings", accesses=reads("neTsU"), read_only=ReadOnly("afow", "neTs",
        check=no_option_file)),
    Program("base64", accesses=reads("w"), read_only=ReadOnly("di", "w", "--decode --wrap")),
    Program("base32", accesses=reads("w")),
    Program("fold", accesses=reads("w"), read_only=ReadOnly("bs", "w")),
    Program("fmt", accesses=reads("wpg"), read_only=ReadOnly("cstu", "w")),
    Program("expand", accesses=reads("t"), read_only=ReadOnly("i", "t")),
    Program("unexpand", accesses=reads("t")),
    Program("column", accesses=reads("soc"), read_only=ReadOnly("tnx", "sco")),
    Program("pr", accesses=reads("hlNoDW")),
    Program("cut", accesses=reads("bcdf"), read_only=ReadOnly("sz", "bcdf", "--characters "
        "--delimiter --fields --output-delimiter")),
    Program("paste", accesses=reads("d"), read_only=ReadOnly("sz", "d")),
    Program("join", accesses=reads("aejotv12"), read_only=ReadOnly("i", "aejotv12")),
    Program("sort", accesses=sort, risk=Risk("oT", "--compress-program --output "
        "--temporary-directory", value_letters="kSt"),
        read_only=ReadOnly("bcCdfghiMmnrRsuVz", "kSt",
        "--field-separator --human-numeric-sort --ignore-case --key --numeric-sort --reverse "
        "--stable --unique --version-sort"), command_options="--compress-program"),
    Program("uniq", accesses=uniq, read_only=ReadOnly("cdDiuz", "fsw", "--count --ignore-case "
        "--repeated --unique", check=one_operand)),
    Program("shuf", risk=Risk("o", "--output", value_letters="ein")),
    Program("diff", accesses=reads("UCIxFSWD", "X"), read_only=ReadOnly("abBcdeEiNqrstTuwyZ",
        "UCIxW", "--brief --color --ignore-all-space --recursive --side-by-side --stat --unified")),
    Program("colordiff sdiff diff3", accesses=reads("UCIxFSWD")),
    Program("file", accesses=reads("FPe", "fm"), risk=Risk("C", "--compile", value_letters="FfmPe"),
        read_only=ReadOnly("bikLhzrs", "", "--brief --mime --mime-type")),
    Program("stat", accesses=reads("c"), read_only=ReadOnly("Lt", "cf", "--format --printf "
        "--terse")),
    Program("readlink", accesses=reads(), read_only=ReadOnly("femnqsvz")),
    Program("realpath", accesses=reads(), read_only=ReadOnly("emszLP")),
    Program("du", accesses=reads("dtB", "X"), read_only=ReadOnly("abchHklLmPsSx0", "dB",
        "--human-readable --max-depth --si --summarize --total"), follows_links="-L --dereference "
        "--follow"),
    Program("df", accesses=reads("xtB"), read_only=ReadOnly("ahHiklPT")),
    Program("nm", accesses=reads(), read_only=ReadOnly("aACDgnoPprsSuv", "", "--defined-only "
        "--demangle --dynamic --undefined-only", check=no_option_file)),
    Program("readelf", accesses=reads(), read_only=ReadOnly("hlSsdrnVWe")),
    Program("size", accesses=reads(), read_only=ReadOnly("ABd", check=no_option_file)),
    Program("objdump", accesses=reads("jMbm"), read_only=ReadOnly("aCdDfhprstTx", "jM",
        "--demangle --disassemble --syms", check=no_option_file)),
    Program("tr", read_only=ReadOnly("cCdst")),
    Program("numfmt", read_only=ReadOnly("", "d", "--field --format --from --header --padding "
        "--suffix --to")),
)  # fmt: skip
