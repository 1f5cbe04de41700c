// What makes a Java program of methods answer one call: arguments in, the value out. See execute/drivers.

// One by one: the program may have classes of these names, beside which a whole package would not count.
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

final class ScaleboxDriver {
    private static final int VALUE = 0, TOO_LARGE = 3, UNFIT = 4, MOST = 16 << 20;

    private static final class Unfit extends RuntimeException {
        Unfit(String text) { super(text, null, false, false); }
    }

    private static final class TooLarge extends RuntimeException {}

    public static void main(String[] methods) throws Throwable {
        // Before any code of the program: what it reads from its standard input is then empty.
        ByteBuffer in = ByteBuffer.wrap(System.in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
        Constructor<FileDescriptor> open = FileDescriptor.class.getDeclaredConstructor(int.class);
        open.setAccessible(true);
        OutputStream frames = new FileOutputStream(open.newInstance(3));
        int index = in.getInt();
        String name = methods[in.getInt()];
        int status = VALUE;
        Bytes out = new Bytes();
        try {
            put(out, call(name, (Object[]) ((Object[]) read(in))[0]));
        } catch (Unfit unfit) {
            status = UNFIT;
            out = new Bytes();
            out.write(unfit.getMessage().getBytes("UTF-8"));
        } catch (TooLarge tooLarge) {
            status = TOO_LARGE;
            out = new Bytes();
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
        ByteBuffer head = ByteBuffer.allocate(17).order(ByteOrder.LITTLE_ENDIAN);
        head.putInt(13 + out.size()).putInt(index).put((byte) status).putFloat(0).putFloat(0);
        Bytes frame = new Bytes();
        frame.write(head.array());
        out.writeTo(frame);
        frames.write(frame.toByteArray());
    }

    private static Object call(String path, Object[] given) throws Throwable {
        int dot = path.lastIndexOf('.');
        Class<?> owner = Class.forName(path.substring(0, dot), false, ScaleboxDriver.class.getClassLoader());
        List<Method> found = new ArrayList<>();
        List<Integer> counts = new ArrayList<>();
        for (Method method : owner.getDeclaredMethods())
            if (method.getName().equals(path.substring(dot + 1)) && !method.isBridge()) {
                counts.add(method.getParameterCount());
                if (method.getParameterCount() == given.length) found.add(method);
            }
        if (found.isEmpty()) throw new Unfit("takes " + counts.get(0) + " arguments, " + given.length + " are given");
        if (found.size() > 1) throw new Unfit("there are several of its name that take as many arguments");
        Method method = found.get(0);
        method.setAccessible(true);
        Type[] types = method.getGenericParameterTypes();
        Object[] arguments = new Object[given.length];
        for (int k = 0; k < given.length; k++) {
            try {
                arguments[k] = as(given[k], types[k]);
            } catch (Unfit unfit) {
                throw new Unfit("argument " + (k + 1) + " " + unfit.getMessage());
            }
        }
        Object object = null;
        if (!Modifier.isStatic(method.getModifiers())) {
            Constructor<?> make = owner.getDeclaredConstructor();
            make.setAccessible(true);
            object = make.newInstance();
        }
        Object value = method.invoke(object, arguments);
        if (method.getReturnType() != void.class) return node(value, method.getReturnType());
        return arguments.length == 0 ? null : node(arguments[0], method.getParameterTypes()[0]);
    }

    // -- values in: null, Boolean, BigInteger, Double, String, Object[] (list, tuple, set) or LinkedHashMap ----

    private static Object read(ByteBuffer in) {
        char tag = (char) in.get();
        switch (tag) {
            case 'N': return null;
            case 'T': return true;
            case 'F': return false;
            case 'i': return BigInteger.valueOf(in.getLong());
            case 'I': {
                byte[] bytes = bytes(in);
                for (int k = 0, end = bytes.length - 1; k < end; k++, end--) {
                    byte one = bytes[k];
                    bytes[k] = bytes[end];
                    bytes[end] = one;
                }
                return new BigInteger(bytes);
            }
            case 'd': return in.getDouble();
            case 's': return text(bytes(in));
            case 'l': case 't': case 'S': case 'Z': case 'q': case 'f': {
                Object[] items = new Object[in.getInt()];
                for (int k = 0; k < items.length; k++)
                    items[k] = tag == 'q' ? (Object) BigInteger.valueOf(in.getLong()) : tag == 'f' ? (Object) in.getDouble() : read(in);
                return items;
            }
            case 'D': {
                Map<Object, Object> map = new LinkedHashMap<>();
                for (int left = in.getInt(); left > 0; left--) {
                    Object key = read(in);
                    map.put(key, read(in));
                }
                return map;
            }
            default: throw new Unfit("holds a value that Java has no type for");
        }
    }

    private static byte[] bytes(ByteBuffer in) {
        byte[] bytes = new byte[in.getInt()];
        in.get(bytes);
        return bytes;
    }

    // UTF-8 in which halves of surrogate pairs may stand alone, as they may in a String.
    private static String text(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length);
        for (int at = 0; at < bytes.length;) {
            int first = bytes[at] & 0xff, more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
            int point = more == 0 ? first : first & (0x3f >> more);
            for (int k = 1; k <= more; k++) point = point << 6 | bytes[at + k] & 0x3f;
            text.appendCodePoint(point);
            at += more + 1;
        }
        return text.toString();
    }

    // -- values to the types that a method declares ------------------------------------------------------------

    private static Object as(Object value, Type type) {
        if (type instanceof WildcardType) return as(value, ((WildcardType) type).getUpperBounds()[0]);
        if (type instanceof TypeVariable) return as(value, ((TypeVariable<?>) type).getBounds()[0]);
        if (type instanceof GenericArrayType) return array(value, ((GenericArrayType) type).getGenericComponentType());
        Type[] of = type instanceof ParameterizedType ? ((ParameterizedType) type).getActualTypeArguments() : new Type[0];
        Class<?> kind = (Class<?>) (type instanceof ParameterizedType ? ((ParameterizedType) type).getRawType() : type);
        if (kind.getName().equals("ListNode")) return list(kind, value);
        if (kind.getName().equals("TreeNode")) return tree(kind, value);
        if (kind == Optional.class) return Optional.ofNullable(value == null ? null : as(value, of[0]));
        if (value == null) {
            if (kind.isPrimitive()) throw new Unfit("is null, and the type " + kind + " has none");
            return null;
        }
        if (kind.isArray()) return array(value, kind.getComponentType());
        if (kind == boolean.class || kind == Boolean.class) return fit(value, Boolean.class, "boolean");
        if (kind == String.class || kind == CharSequence.class) return fit(value, String.class, "String");
        if (kind == char.class || kind == Character.class) {
            if (!(value instanceof String) || ((String) value).length() != 1) throw new Unfit("is no char");
            return ((String) value).charAt(0);
        }
        if (kind == double.class || kind == Double.class) return number(value).doubleValue();
        if (kind == float.class || kind == Float.class) return number(value).floatValue();
        if (kind == BigInteger.class || kind == Number.class && value instanceof BigInteger) return integer(value, 1 << 20);
        if (kind == int.class || kind == Integer.class) return integer(value, 31).intValue();
        if (kind == long.class || kind == Long.class) return integer(value, 63).longValue();
        if (kind == short.class || kind == Short.class) return integer(value, 15).shortValue();
        if (kind == byte.class || kind == Byte.class) return integer(value, 7).byteValue();
        if (Map.class.isAssignableFrom(kind)) return map(value, kind, of);
        if (Iterable.class.isAssignableFrom(kind)) return collection(value, kind, of.length > 0 ? of[0] : Object.class);
        if (kind == Object.class || kind == Number.class || kind == Comparable.class) return plain(value);
        throw new Unfit("has a type that is not supported: " + type.getTypeName());
    }

    private static <T> T fit(Object value, Class<T> kind, String name) {
        if (!kind.isInstance(value)) throw new Unfit("is no " + name);
        return kind.cast(value);
    }

    private static Number number(Object value) {
        return fit(value, Number.class, "number");
    }

    private static BigInteger integer(Object value, int bits) {
        BigInteger integer = fit(value, BigInteger.class, "integer");
        if (integer.bitLength() > bits) throw new Unfit("is out of range");
        return integer;
    }

    private static Object plain(Object value) {
        if (value instanceof Object[]) return collection(value, List.class, Object.class);
        if (value instanceof Map) return map(value, Map.class, new Type[0]);
        if (!(value instanceof BigInteger)) return value;
        BigInteger integer = (BigInteger) value;
        if (integer.bitLength() < 32) return integer.intValue();
        return integer.bitLength() < 64 ? (Object) integer.longValue() : integer;
    }

    private static Object array(Object value, Type item) {
        Object[] items = fit(value, Object[].class, "list");
        Object made = Array.newInstance(raw(item), items.length);
        for (int k = 0; k < items.length; k++) Array.set(made, k, as(items[k], item));
        return made;
    }

    private static Class<?> raw(Type type) {
        if (type instanceof Class) return (Class<?>) type;
        if (type instanceof ParameterizedType) return raw(((ParameterizedType) type).getRawType());
        if (type instanceof GenericArrayType)
            return Array.newInstance(raw(((GenericArrayType) type).getGenericComponentType()), 0).getClass();
        return type instanceof TypeVariable ? raw(((TypeVariable<?>) type).getBounds()[0]) : Object.class;
    }

    @SuppressWarnings("unchecked")
    private static Object collection(Object value, Class<?> kind, Type item) {
        Class<?>[] kinds = {ArrayList.class, ArrayDeque.class, LinkedList.class, LinkedHashSet.class, TreeSet.class};
        Collection<Object> made = (Collection<Object>) made(kind, kinds);
        for (Object one : fit(value, Object[].class, "list")) made.add(as(one, item));
        return made;
    }

    @SuppressWarnings("unchecked")
    private static Object map(Object value, Class<?> kind, Type[] of) {
        Map<Object, Object> made = (Map<Object, Object>) made(kind, LinkedHashMap.class, TreeMap.class);
        Map<Object, Object> given = (Map<Object, Object>) fit(value, Map.class, "map");
        for (Map.Entry<Object, Object> entry : given.entrySet())
            made.put(key(entry.getKey(), of), as(entry.getValue(), of.length > 1 ? of[1] : Object.class));
        return made;
    }

    // JSON has no keys but texts: one that is an integer stands for it.
    private static Object key(Object key, Type[] of) {
        Type type = of.length > 1 ? of[0] : Object.class;
        boolean integer = type == Integer.class || type == Long.class || type == Short.class || type == Byte.class;
        if (integer && key instanceof String && ((String) key).matches("-?[0-9]{1,19}")) key = new BigInteger((String) key);
        return as(key, type);
    }

    // An object of the class itself, or of the first class that is one of the kind.
    private static Object made(Class<?> kind, Class<?>... classes) {
        try {
            if (!kind.isInterface() && !Modifier.isAbstract(kind.getModifiers())) return kind.getConstructor().newInstance();
            for (Class<?> one : classes) if (kind.isAssignableFrom(one)) return one.getConstructor().newInstance();
        } catch (ReflectiveOperationException error) {
            // as below
        }
        throw new Unfit("has a type that is not supported: " + kind.getName());
    }

    // -- nodes, as LeetCode writes them: lists as arrays, trees level by level with null where a child is not there

    private static Object list(Class<?> kind, Object value) {
        Object first = null;
        Object[] items = value == null ? new Object[0] : fit(value, Object[].class, "list");
        for (int k = items.length - 1; k >= 0; k--) {
            Object node = node(kind, items[k]);
            set(node, "next", first);
            first = node;
        }
        return first;
    }

    private static Object tree(Class<?> kind, Object value) {
        Object[] items = value == null ? new Object[0] : fit(value, Object[].class, "list");
        if (items.length == 0 || items[0] == null) return null;
        List<Object> nodes = new ArrayList<>(List.of(node(kind, items[0])));
        int at = 1;
        for (int k = 0; k < nodes.size(); k++)
            for (String side : new String[] {"left", "right"})
                if (at < items.length && items[at++] != null) {
                    Object child = node(kind, items[at - 1]);
                    set(nodes.get(k), side, child);
                    nodes.add(child);
                }
        if (at < items.length) throw new Unfit("has values without a parent");
        return nodes.get(0);
    }

    private static Object node(Class<?> kind, Object value) {
        try {
            for (Constructor<?> make : kind.getDeclaredConstructors())
                if (make.getParameterCount() == 1) {
                    make.setAccessible(true);
                    return make.newInstance(as(value, make.getGenericParameterTypes()[0]));
                }
            Object made = kind.getDeclaredConstructor().newInstance();
            set(made, "val", as(value, field(kind, "val").getGenericType()));
            return made;
        } catch (ReflectiveOperationException error) {
            throw new Unfit("has nodes that cannot be made: " + kind.getName());
        }
    }

    private static Field field(Class<?> kind, String name) {
        try {
            Field field = kind.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException error) {
            throw new Unfit("has nodes without " + name);
        }
    }

    private static Object get(Object node, String name) {
        try {
            return field(node.getClass(), name).get(node);
        } catch (IllegalAccessException error) {
            throw new Unfit("has nodes without " + name);
        }
    }

    private static void set(Object node, String name, Object value) {
        try {
            field(node.getClass(), name).set(node, value);
        } catch (IllegalAccessException error) {
            throw new Unfit("has nodes without " + name);
        }
    }

    // A list that has no node is empty, and no null.
    private static Object node(Object value, Class<?> kind) {
        boolean empty = value == null && (kind.getName().equals("ListNode") || kind.getName().equals("TreeNode"));
        return empty ? new Object[0] : value;
    }

    private static List<Object> values(Object node) {
        List<Object> values = new ArrayList<>();
        if (node.getClass().getName().equals("ListNode")) {
            for (; node != null; node = get(node, "next")) {
                if (values.size() > MOST / 9) throw new TooLarge(); // a ring
                values.add(get(node, "val"));
            }
            return values;
        }
        LinkedList<Object> nodes = new LinkedList<>(List.of(node));
        while (!nodes.isEmpty()) {
            node = nodes.removeFirst();
            if (values.size() > MOST / 9) throw new TooLarge();
            values.add(node == null ? null : get(node, "val"));
            if (node == null) continue;
            nodes.add(get(node, "left"));
            nodes.add(get(node, "right"));
        }
        while (!values.isEmpty() && values.get(values.size() - 1) == null) values.remove(values.size() - 1);
        return values;
    }

    // -- values out --------------------------------------------------------------------------------------------

    private static final class Bytes extends ByteArrayOutputStream {
        void number(long value, int size) {
            for (int k = 0; k < size; k++) write((int) (value >> 8 * k));
        }

        void text(byte tag, byte[] data) {
            write(tag);
            number(data.length, 4);
            write(data, 0, data.length);
        }

        @Override
        public void write(byte[] data) { write(data, 0, data.length); }

        void reserve(int at, int count) {
            for (int k = 0; k < 4; k++) buf[at + k] = (byte) (count >> 8 * k);
        }
    }

    private static void put(Bytes out, Object value) {
        if (out.size() > MOST) throw new TooLarge();
        if (value instanceof Optional) value = ((Optional<?>) value).orElse(null);
        if (value == null) {
            out.write('N');
        } else if (value instanceof Boolean) {
            out.write((Boolean) value ? 'T' : 'F');
        } else if (value instanceof Double || value instanceof Float) {
            out.write('d');
            out.number(Double.doubleToLongBits(((Number) value).doubleValue()), 8);
        } else if (value instanceof BigInteger && ((BigInteger) value).bitLength() > 63) {
            byte[] bytes = ((BigInteger) value).toByteArray();
            out.write('I');
            out.number(bytes.length, 4);
            for (int k = bytes.length - 1; k >= 0; k--) out.write(bytes[k]);
        } else if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte
            || value instanceof BigInteger) {
            out.write('i');
            out.number(((Number) value).longValue(), 8);
        } else if (value instanceof CharSequence || value instanceof Character) {
            out.text((byte) 's', utf8(value.toString()));
        } else if (value.getClass().isArray()) {
            int count = Array.getLength(value);
            out.write('l');
            out.number(count, 4);
            for (int k = 0; k < count; k++) put(out, Array.get(value, k));
        } else if (value instanceof Map) {
            Map<?, ?> map = (Map<?, ?>) value;
            out.write('D');
            out.number(map.size(), 4);
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                put(out, entry.getKey());
                put(out, entry.getValue());
            }
        } else if (value instanceof Iterable) {
            out.write(value instanceof Set ? 'S' : 'l');
            int at = out.size(), count = 0;
            out.number(0, 4);
            for (Object item : (Iterable<?>) value) {
                put(out, item);
                count++;
            }
            out.reserve(at, count);
        } else if (value.getClass().getName().equals("ListNode") || value.getClass().getName().equals("TreeNode")) {
            put(out, values(value));
        } else {
            out.text((byte) 'x', utf8(value.getClass().getName()));
        }
    }

    private static byte[] utf8(String text) {
        Bytes out = new Bytes();
        for (int at = 0; at < text.length();) {
            int point = text.codePointAt(at);
            at += Character.charCount(point);
            if (point < 0x80) {
                out.write(point);
                continue;
            }
            int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
            out.write((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | point >> 6 * more);
            for (int k = more - 1; k >= 0; k--) out.write(0x80 | point >> 6 * k & 0x3f);
        }
        return out.toByteArray();
    }
}
