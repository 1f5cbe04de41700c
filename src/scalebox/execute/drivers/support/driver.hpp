// What makes a C++ program of functions answer one call: arguments in, the value out. See execute/drivers.
#include <unistd.h>

namespace scalebox_driver {

using Bytes = std::string;
enum Status : unsigned char { VALUE = 0, TOO_LARGE = 3, UNFIT = 4 };
constexpr size_t MOST = size_t(16) << 20;

inline unsigned char* input = nullptr;
inline size_t input_size = 0;

// Before any code of the program: what it reads from its standard input is then empty.
__attribute__((constructor(101))) inline void take_input() {
    size_t room = 1 << 16;
    input = (unsigned char*)malloc(room);
    for (;;) {
        if (input_size == room) input = (unsigned char*)realloc(input, room *= 2);
        if (!input) _exit(70);
        ssize_t got = read(0, input + input_size, room - input_size);
        if (got <= 0) break;
        input_size += got;
    }
}

inline unsigned word_at(size_t at) {
    unsigned word = 0;
    if (at + 4 <= input_size) memcpy(&word, input + at, 4);
    return word;
}
inline unsigned function_number() { return word_at(4); }

inline int send(Status status, const Bytes& data) {
    struct __attribute__((packed)) { unsigned size, index; unsigned char status; float cpu, wall; } head;
    head = {unsigned(13 + data.size()), word_at(0), status, 0, 0};
    Bytes frame((const char*)&head, sizeof head);
    frame += data;
    for (size_t at = 0; at < frame.size();) {
        ssize_t done = write(3, frame.data() + at, frame.size() - at);
        if (done <= 0) _exit(70);
        at += done;
    }
    return 0;
}

struct Unfit { Bytes text; };
struct TooLarge {};

// -- values in --------------------------------------------------------------------------------------------

struct Reader {
    size_t at = 8;
    char packed = 0;  // items of a packed list have no tags of their own

    char tag() { return packed ? packed : char(input[at++]); }
    template <class T> T raw() {
        T value;
        memcpy(&value, input + at, sizeof value);
        at += sizeof value;
        return value;
    }
    Bytes text() {
        unsigned size = raw<unsigned>();
        at += size;
        return Bytes((const char*)input + at - size, size);
    }
    // The integer behind the tag `i` or `I`; false where it has more than 128 bits.
    bool integer(char tag, __int128& value) {
        if (tag == 'i') { value = raw<long long>(); return true; }
        unsigned size = raw<unsigned>();
        unsigned char sign = input[at + size - 1] >> 7 ? 0xff : 0;
        unsigned __int128 bits = sign ? ~(unsigned __int128)0 : 0;
        bool whole = true;  // what is beyond must be no more than the sign
        for (unsigned k = size; k-- > 0;)
            if (k < 16) bits = bits << 8 | input[at + k];
            else whole = whole && input[at + k] == sign;
        at += size;
        value = (__int128)bits;
        return whole && (value < 0) == (sign > 0);
    }
    // How many items a list (or tuple, or set) has; its items follow, and `packed` is as they need it.
    unsigned items(char tag, const char* type) {
        if (!strchr("ltSZqf", tag)) throw Unfit{Bytes("is no ") + type};
        unsigned count = raw<unsigned>();
        packed = tag == 'q' ? 'i' : tag == 'f' ? 'd' : 0;
        return count;
    }
};

template <class T, class Enable = void> struct Type {
    static_assert(sizeof(T) == 0, "a type of the called function is not supported");
};
template <class T> T get(Reader& in) { return Type<T>::get(in, in.tag()); }
template <class T> void put(Bytes& out, const T& value) {
    if (out.size() > MOST) throw TooLarge{};
    Type<T>::put(out, value);
}
template <class T> void raw(Bytes& out, T value) { out.append((const char*)&value, sizeof value); }

template <class T> constexpr bool is_integer =
    (std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t>) ||
    std::is_same_v<T, __int128> || std::is_same_v<T, unsigned __int128>;

template <class T> struct Type<T, std::enable_if_t<is_integer<T>>> {
    static T get(Reader& in, char tag) {
        __int128 value;
        if (tag != 'i' && tag != 'I') throw Unfit{"is no integer"};
        bool fits = in.integer(tag, value) && (T(-1) < T(0) || value >= 0);
        if (!fits || (__int128)(T)value != value) throw Unfit{"is out of range"};
        return (T)value;
    }
    static void put(Bytes& out, T value) {
        if (sizeof(T) < 8 || (T(-1) < T(0) ? (T)(long long)value == value : value <= (T)LLONG_MAX)) {
            out += 'i';
            return raw(out, (long long)value);
        }
        out += 'I';
        raw(out, (unsigned)sizeof(T) + 1);
        raw(out, value);
        out += value < 0 ? '\xff' : '\0';
    }
};
template <> struct Type<bool> {
    static bool get(Reader&, char tag) {
        if (tag != 'T' && tag != 'F') throw Unfit{"is no bool"};
        return tag == 'T';
    }
    static void put(Bytes& out, bool value) { out += value ? 'T' : 'F'; }
};
template <class T> struct Type<T, std::enable_if_t<std::is_floating_point_v<T>>> {
    static T get(Reader& in, char tag) {
        if (tag == 'd') return (T)in.raw<double>();
        __int128 value;
        if (tag != 'i' && tag != 'I') throw Unfit{"is no number"};
        if (!in.integer(tag, value)) throw Unfit{"is out of range"};
        return (T)value;
    }
    static void put(Bytes& out, T value) {
        out += 'd';
        raw(out, value == value ? (double)value : std::numeric_limits<double>::quiet_NaN());
    }
};
inline void put_text(Bytes& out, const char* data, size_t size) {
    out += 's';
    raw(out, (unsigned)size);
    out.append(data, size);
}
template <> struct Type<char> {
    static char get(Reader& in, char tag) {
        Bytes text = tag == 's' ? in.text() : Bytes();
        if (text.size() != 1) throw Unfit{"is no char"};
        return text[0];
    }
    static void put(Bytes& out, char value) { put_text(out, &value, 1); }
};
template <> struct Type<std::string> {
    static std::string get(Reader& in, char tag) {
        if (tag != 's') throw Unfit{"is no string"};
        return in.text();
    }
    static void put(Bytes& out, const std::string& value) { put_text(out, value.data(), value.size()); }
};
template <> struct Type<std::string_view> {
    static std::string_view get(Reader& in, char tag) { return *new std::string(Type<std::string>::get(in, tag)); }
    static void put(Bytes& out, std::string_view value) { put_text(out, value.data(), value.size()); }
};

// -- containers -------------------------------------------------------------------------------------------

template <class C> void put_items(Bytes& out, char tag, const C& items) {
    out += tag;
    size_t at = out.size();
    unsigned count = 0;
    raw(out, count);
    for (const auto& item : items) { put<std::decay_t<typename C::value_type>>(out, item); count++; }
    memcpy(&out[at], &count, sizeof count);
}
template <class C> struct Sequence {
    static C get(Reader& in, char tag) {
        C made;
        for (unsigned left = in.items(tag, "list"); left > 0; left--) {
            char items = in.packed;
            made.push_back(scalebox_driver::get<typename C::value_type>(in));
            in.packed = items;
        }
        in.packed = 0;
        return made;
    }
    static void put(Bytes& out, const C& value) { put_items(out, 'l', value); }
};
template <class T> struct Type<std::vector<T>> : Sequence<std::vector<T>> {};
template <class T> struct Type<std::deque<T>> : Sequence<std::deque<T>> {};
template <class T> struct Type<std::list<T>> : Sequence<std::list<T>> {};
template <class T, size_t N> struct Type<std::array<T, N>> {
    static std::array<T, N> get(Reader& in, char tag) {
        auto items = Type<std::vector<T>>::get(in, tag);
        if (items.size() != N) throw Unfit{"has another length than the array"};
        std::array<T, N> made;
        std::copy(items.begin(), items.end(), made.begin());
        return made;
    }
    static void put(Bytes& out, const std::array<T, N>& value) { put_items(out, 'l', value); }
};
template <class C> struct Set {
    static C get(Reader& in, char tag) {
        auto items = Type<std::vector<typename C::value_type>>::get(in, tag);
        return C(items.begin(), items.end());
    }
    static void put(Bytes& out, const C& value) { put_items(out, 'S', value); }
};
template <class T> struct Type<std::set<T>> : Set<std::set<T>> {};
template <class T> struct Type<std::unordered_set<T>> : Set<std::unordered_set<T>> {};
template <class C> struct Multiset : Set<C> {
    static void put(Bytes& out, const C& value) { put_items(out, 'l', value); }
};
template <class T> struct Type<std::multiset<T>> : Multiset<std::multiset<T>> {};
template <class C> struct Map {
    using Key = typename C::key_type;
    static C get(Reader& in, char tag) {
        if (tag != 'D') throw Unfit{"is no map"};
        C made;
        for (unsigned left = in.raw<unsigned>(); left > 0; left--) {
            Key key = get_key(in);
            made.insert_or_assign(std::move(key), scalebox_driver::get<typename C::mapped_type>(in));
        }
        return made;
    }
    // JSON has no keys but texts: one that is an integer stands for it.
    static Key get_key(Reader& in) {
        char tag = in.tag();
        if constexpr (is_integer<Key>)
            if (tag == 's') {
                Bytes text = in.text();
                Key key{};
                auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), key);
                if (bad != std::errc() || end != text.data() + text.size()) throw Unfit{"has a key that is no integer"};
                return key;
            }
        return Type<Key>::get(in, tag);
    }
    static void put(Bytes& out, const C& value) {
        out += 'D';
        raw(out, (unsigned)value.size());
        for (const auto& [key, item] : value) {
            scalebox_driver::put(out, key);
            scalebox_driver::put(out, item);
        }
    }
};
template <class K, class V> struct Type<std::map<K, V>> : Map<std::map<K, V>> {};
template <class K, class V> struct Type<std::unordered_map<K, V>> : Map<std::unordered_map<K, V>> {};
template <class T, size_t... I> struct Tuple {
    static T get(Reader& in, char tag) {
        T made;
        if (in.items(tag, "tuple") != sizeof...(I)) throw Unfit{"has another length than the tuple"};
        char items = in.packed;
        ((std::get<I>(made) = scalebox_driver::get<std::tuple_element_t<I, T>>(in), in.packed = items), ...);
        in.packed = 0;
        return made;
    }
    static void put(Bytes& out, const T& value) {
        out += 't';
        raw(out, (unsigned)sizeof...(I));
        (scalebox_driver::put<std::tuple_element_t<I, T>>(out, std::get<I>(value)), ...);
    }
};
template <class T, size_t... I> Tuple<T, I...> tuple_of(std::index_sequence<I...>);
template <class A, class B> struct Type<std::pair<A, B>> : Tuple<std::pair<A, B>, 0, 1> {};
template <class... T> struct Type<std::tuple<T...>>
    : decltype(tuple_of<std::tuple<T...>>(std::index_sequence_for<T...>())) {};
template <class T> struct Type<std::optional<T>> {
    static std::optional<T> get(Reader& in, char tag) {
        if (tag == 'N') return std::nullopt;
        return Type<T>::get(in, tag);
    }
    static void put(Bytes& out, const std::optional<T>& value) {
        if (value) scalebox_driver::put(out, *value);
        else out += 'N';
    }
};

// -- nodes, as LeetCode writes them: lists as arrays, trees level by level with null where a child is not there --

template <class N> struct ListType {
    static N* get(Reader& in, char tag) {
        if (tag == 'N') return nullptr;
        auto values = Type<std::vector<decltype(N::val)>>::get(in, tag);
        N* first = nullptr;
        for (size_t k = values.size(); k-- > 0;) {
            N* node = new N(values[k]);
            node->next = first;
            first = node;
        }
        return first;
    }
    static void put(Bytes& out, N* node) {
        std::vector<decltype(N::val)> values;
        for (; node; node = node->next) {
            if (values.size() > MOST / 9) throw TooLarge{};  // a ring
            values.push_back(node->val);
        }
        scalebox_driver::put(out, values);
    }
};
template <class N> struct TreeType {
    using Values = std::vector<std::optional<decltype(N::val)>>;
    static N* get(Reader& in, char tag) {
        if (tag == 'N') return nullptr;
        Values values = Type<Values>::get(in, tag);
        if (values.empty() || !values[0]) return nullptr;
        std::vector<N*> nodes{new N(*values[0])};
        size_t at = 1;
        for (size_t k = 0; k < nodes.size(); k++)
            for (N** child : {&nodes[k]->left, &nodes[k]->right})
                if (at < values.size()) {
                    if (values[at]) nodes.push_back(*child = new N(*values[at]));
                    at++;
                }
        if (at < values.size()) throw Unfit{"has values without a parent"};
        return nodes[0];
    }
    static void put(Bytes& out, N* root) {
        Values values;
        std::deque<N*> nodes{root};
        for (; !nodes.empty(); nodes.pop_front()) {
            N* node = nodes.front();
            if (values.size() > MOST / 9) throw TooLarge{};
            if (!node) { values.push_back(std::nullopt); continue; }
            values.push_back(node->val);
            nodes.push_back(node->left);
            nodes.push_back(node->right);
        }
        while (!values.empty() && !values.back()) values.pop_back();
        scalebox_driver::put(out, values);
    }
};
#define SCALEBOX_LISTNODE(N) \
    namespace scalebox_driver { template <> struct Type<::N*> : ListType<::N> {}; }
#define SCALEBOX_TREENODE(N) \
    namespace scalebox_driver { template <> struct Type<::N*> : TreeType<::N> {}; }

// -- the call ---------------------------------------------------------------------------------------------

template <class A, class T> decltype(auto) pass(T& value) {
    if constexpr (std::is_rvalue_reference_v<A>) return std::move(value);
    else return (value);
}
inline unsigned arguments(Reader& in) {
    in.at += 6;  // a tuple of two: the arguments, a tuple too, and keywords, of which there are none
    return in.raw<unsigned>();
}
inline unsigned given() {
    Reader in;
    return arguments(in);
}
inline int none() { return send(UNFIT, "none of its name takes " + std::to_string(given()) + " arguments"); }
template <class R, class... A, class F, size_t... I> int call(F function, std::index_sequence<I...>) {
    std::tuple<std::remove_cv_t<std::remove_reference_t<A>>...> values;
    Bytes out;
    size_t number = 0;
    try {
        Reader in;
        unsigned given = arguments(in);
        if (given != sizeof...(A))
            return send(UNFIT, "takes " + std::to_string(sizeof...(A)) + " arguments, " + std::to_string(given) + " are given");
        ((number++, std::get<I>(values) = get<std::tuple_element_t<I, decltype(values)>>(in)), ...);
    } catch (const Unfit& unfit) {
        return send(UNFIT, "argument " + std::to_string(number) + " " + unfit.text);
    }
    try {
        if constexpr (!std::is_void_v<R>) {
            put<std::decay_t<R>>(out, function(pass<A>(std::get<I>(values))...));
        } else {
            function(pass<A>(std::get<I>(values))...);
            if constexpr (sizeof...(A) == 0) out += 'N';
            else put(out, std::get<0>(values));
        }
    } catch (const TooLarge&) {
        return send(TOO_LARGE, "");
    }
    if (out.size() > MOST) return send(TOO_LARGE, "");
    return send(VALUE, out);
}
template <class R, class... A> int run(R (*function)(A...)) {
    return call<R, A...>(function, std::index_sequence_for<A...>());
}
template <class R, class C, class... A> int run(R (C::*method)(A...)) {
    auto bound = [object = new C(), method](auto&&... values) -> R {
        return (object->*method)(std::forward<decltype(values)>(values)...);
    };
    return call<R, A...>(bound, std::index_sequence_for<A...>());
}
template <class R, class C, class... A> int run(R (C::*method)(A...) const) {
    return run((R (C::*)(A...))method);
}

}  // namespace scalebox_driver
