import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Compiles one program after another, as `javac` would with the same arguments, each with a compiler object of its own.
 *
 * A request is the length of what follows (4 bytes, big-endian) and the arguments with NUL between them; the answer is
 * javac's exit code, a length, and what javac said, cut to MOST bytes. The first answer says that it is there.
 */
class Resident {
    private static final int MOST = 8000;

    public static void main(String[] arguments) throws IOException {
        DataInputStream in = new DataInputStream(System.in);
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
        System.setOut(System.err);
        System.setProperty("java.class.path", "."); // where compilers look by default: not beside this class
        answer(out, 0, "");
        while (true) {
            byte[] request;
            try {
                request = new byte[in.readInt()];
            } catch (EOFException end) {
                return;
            }
            in.readFully(request);
            String[] words = new String(request, StandardCharsets.UTF_8).split("\0");
            StringWriter said = new StringWriter();
            forgetNames();
            int status = com.sun.tools.javac.Main.compile(words, new PrintWriter(said));
            answer(out, status, said.toString());
        }
    }

    private static void answer(DataOutputStream out, int status, String text) throws IOException {
        byte[] said = text.getBytes(StandardCharsets.UTF_8);
        said = Arrays.copyOf(said, Math.min(said.length, MOST));
        out.writeInt(status);
        out.writeInt(said.length);
        out.write(said);
        out.flush();
    }

    /** Drop the one thing that a compiler hands on to the next: its table of names, whose order hashes depend on. */
    private static void forgetNames() {
        try {
            Class<?> list = Class.forName("com.sun.tools.javac.util.List");
            Field kept = Class.forName("com.sun.tools.javac.util.SharedNameTable").getDeclaredField("freelist");
            kept.setAccessible(true);
            kept.set(null, list.getMethod("nil").invoke(null));
        } catch (ReflectiveOperationException | RuntimeException unknown) {
            return; // a version that keeps none
        }
    }
}
