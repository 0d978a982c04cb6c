import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.StringJoiner;
import org.ansj.domain.Term;
import org.ansj.splitWord.analysis.ToAnalysis;

/** Reads one text per line, and writes its words as {@code word/tag}, with tabs between them. */
class AnsjWords {
    public static void main(String[] arguments) throws Exception {
        // ANSJ logs to standard output: redirect it, so that standard output has only words.
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            // ANSJ splits a character of two code units, like 𠀀, into two invalid halves.
            String text = line.replaceAll("[\\x{10000}-\\x{10FFFF}]", "\uFFFD");
            StringJoiner words = new StringJoiner("\t");
            for (Term term : ToAnalysis.parse(text)) {
                // Blank words too: the news program hashes them like others.
                words.add(term.getName() + "/" + term.getNatureStr());
            }
            out.println(words);
        }
    }
}
