// A skin's second stage on the GPU: rest-pose displacements, then blended bones; and the normals of a posed surface.
//
// `skinned` and `skinned_point` read group 0 alone, so that a vertex stage can call them as the compute entry points do.
// What no pose changes is in textures of four u32 a texel, ROW texels a row; what changes every frame is in `frame`.

const ROW = 4096u;
const GROUP = 64u;
const MORE = 31u;         // This bit of a list's texel tells that another texel follows.
const CENTRE = 1u << 30u; // Bits of a step around a vertex: it names the centre, or the neighbour where a walk starts.
const START = 1u << 29u;

override VERTICES: u32 = 0u;
override COORDINATES: u32 = 0u;       // The index in `frame` of the coordinates, which follow the bones.
override ENTRIES: u32 = 0u;           // Displacements in a texel: 1 of float32, 2 of int16, 4 of int8; 0: there are none.
override CORRECTED: bool = false;     // Whether normals have displacements too.
override AMOUNTS: u32 = 0u;           // The index in `frame` of the bones' amounts of corrections, after the coordinates.
override CORRECTIONS: u32 = 0u;       // Corrections that each bone has an amount of: four to a vector.
override BONE_TEXELS: u32 = 1u;       // Texels of bones that every vertex has.
override DUAL: bool = false;          // Whether bones are blended as dual quaternions.

// Of each bone three rows of its transform; or its rotation's quaternion, the dual part, and three rows of its stretch.
// Then the coordinates of points, and those of normals, each times the scale of its column; then each bone's amounts.
@group(0) @binding(0) var<uniform> frame: array<vec4<f32>, 4096>;
@group(0) @binding(1) var rest: texture_2d<u32>;          // x y z, and the texel where the displacements begin.
@group(0) @binding(2) var rest_normals: texture_2d<u32>;  // The same of the normal; or, in w, where its fan begins.
@group(0) @binding(3) var bones: texture_2d<u32>;         // Two bones, strongest first: index in `frame`, weight, twice.
@group(0) @binding(4) var displacements: texture_2d<u32>; // All x, all y, all z, all columns.
@group(0) @binding(5) var corrections: texture_2d<u32>;   // x y z, and the largest displacement of the vertex.

@group(1) @binding(0) var<storage, read_write> points: array<f32>;
@group(1) @binding(1) var<storage, read_write> normals: array<f32>;
@group(1) @binding(2) var fans: texture_2d<u32>;          // Walks around a vertex, four steps a texel.
@group(1) @binding(3) var kept: texture_storage_2d<rgba32float, write>;
@group(1) @binding(4) var posed: texture_2d<f32>;         // What was kept: the posed points, a texel a vertex.
@group(1) @binding(5) var<uniform> camera: mat4x4<f32>;

struct Skinned {
    point: vec3<f32>,
    normal: vec3<f32>,
}

// The rows of an affine transform.
struct Blend {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}

fn position_of(texel: u32) -> vec2<u32> {
    return vec2<u32>(texel % ROW, texel / ROW);
}

fn coordinate(column: u32) -> f32 {
    return frame[COORDINATES + (column >> 2u)][column & 3u];
}

fn halves(word: u32) -> vec2<f32> {
    return vec2<f32>(vec2<i32>(vec2<u32>(word << 16u, word)) >> vec2<u32>(16u));
}

fn quarters(word: u32) -> vec4<f32> {
    return vec4<f32>(vec4<i32>(vec4<u32>(word << 24u, word << 16u, word << 8u, word)) >> vec4<u32>(24u));
}

fn displacement_of(texel: vec4<u32>) -> vec3<f32> {
    let columns = texel.w & ~(1u << MORE);
    if (ENTRIES == 1u) {
        return coordinate(columns) * bitcast<vec3<f32>>(texel.xyz);
    }
    if (ENTRIES == 2u) {
        let two = vec2<f32>(coordinate(columns & 0xffffu), coordinate(columns >> 16u));
        return vec3<f32>(dot(two, halves(texel.x)), dot(two, halves(texel.y)), dot(two, halves(texel.z)));
    }
    let four = vec4<f32>(
        coordinate(columns & 0xffu),
        coordinate((columns >> 8u) & 0xffu),
        coordinate((columns >> 16u) & 0xffu),
        coordinate(columns >> 24u),
    );
    return vec3<f32>(dot(four, quarters(texel.x)), dot(four, quarters(texel.y)), dot(four, quarters(texel.z)));
}

// The sum of the displacements in a list.
fn displaced(first: u32) -> vec3<f32> {
    var total = vec3<f32>(0.0);
    var more = 1u;
    for (var texel = first; more != 0u; texel++) {
        let packed = textureLoad(displacements, position_of(texel), 0);
        total += displacement_of(packed);
        more = packed.w >> MORE;
    }
    return total;
}

fn linear_blend(vertex: u32) -> Blend {
    var blend = Blend(vec4<f32>(0.0), vec4<f32>(0.0), vec4<f32>(0.0));
    var more = 1u;
    for (var texel = vertex * BONE_TEXELS; more != 0u; texel++) {
        let two = textureLoad(bones, position_of(texel), 0);
        let a = two.x & ~(1u << MORE);
        let b = two.z;
        let weights = bitcast<vec2<f32>>(two.yw);
        blend.x += weights.x * frame[a] + weights.y * frame[b];
        blend.y += weights.x * frame[a + 1u] + weights.y * frame[b + 1u];
        blend.z += weights.x * frame[a + 2u] + weights.y * frame[b + 2u];
        more = two.x >> MORE;
    }
    return blend;
}

// Two quaternions stand for one rotation: each bone takes the sign nearest the vertex's strongest bone.
fn dual_blend(vertex: u32) -> Blend {
    let pivot = frame[textureLoad(bones, position_of(vertex * BONE_TEXELS), 0).x & ~(1u << MORE)];
    var rotation = vec4<f32>(0.0);
    var dual = vec4<f32>(0.0);
    var stretch = Blend(vec4<f32>(0.0), vec4<f32>(0.0), vec4<f32>(0.0));
    var more = 1u;
    for (var texel = vertex * BONE_TEXELS; more != 0u; texel++) {
        let two = textureLoad(bones, position_of(texel), 0);
        for (var half = 0u; half < 2u; half++) {
            let bone = select(two.x & ~(1u << MORE), two.z, half == 1u);
            let weight = bitcast<f32>(select(two.y, two.w, half == 1u));
            let agreeing = select(weight, -weight, dot(frame[bone], pivot) < 0.0);
            rotation += agreeing * frame[bone];
            dual += agreeing * frame[bone + 1u];
            stretch.x += weight * frame[bone + 2u];
            stretch.y += weight * frame[bone + 3u];
            stretch.z += weight * frame[bone + 4u];
        }
        more = two.x >> MORE;
    }
    let size = length(rotation);
    return composed(rotation / size, dual / size, stretch);
}

// The rotation and translation of a unit dual quaternion after a stretch.
fn composed(rotation: vec4<f32>, dual: vec4<f32>, stretch: Blend) -> Blend {
    let q = rotation.xyz;
    let twice = 2.0 * q;
    let squares = q * twice;
    let mixed = vec3<f32>(q.x * twice.y, q.y * twice.z, q.z * twice.x);  // xy yz zx, twice
    let real = rotation.w * twice;
    let moved = 2.0 * (rotation.w * dual.xyz - dual.w * q + cross(q, dual.xyz));
    return Blend(
        vec4<f32>(0.0, 0.0, 0.0, moved.x) + (1.0 - squares.y - squares.z) * stretch.x
            + (mixed.x - real.z) * stretch.y + (mixed.z + real.y) * stretch.z,
        vec4<f32>(0.0, 0.0, 0.0, moved.y) + (mixed.x + real.z) * stretch.x
            + (1.0 - squares.x - squares.z) * stretch.y + (mixed.y - real.x) * stretch.z,
        vec4<f32>(0.0, 0.0, 0.0, moved.z) + (mixed.z - real.y) * stretch.x
            + (mixed.y + real.x) * stretch.y + (1.0 - squares.x - squares.y) * stretch.z,
    );
}

// The amounts of four corrections at a vertex, from the vector `four` on: those of its bones, weighted.
fn amounts_at(vertex: u32, four: u32) -> vec4<f32> {
    let vectors = (CORRECTIONS + 3u) / 4u;
    var amounts = vec4<f32>(0.0);
    var more = 1u;
    for (var texel = vertex * BONE_TEXELS; more != 0u; texel++) {
        let two = textureLoad(bones, position_of(texel), 0);
        let a = (two.x & ~(1u << MORE)) / 3u;
        let b = two.z / 3u;
        let weights = bitcast<vec2<f32>>(two.yw);
        amounts += weights.x * frame[AMOUNTS + a * vectors + four] + weights.y * frame[AMOUNTS + b * vectors + four];
        more = two.x >> MORE;
    }
    return amounts;
}

// The corrections of the bones at a vertex, none of them beyond its limit; bones that have any blend linearly.
fn corrected(vertex: u32) -> vec3<f32> {
    var total = vec3<f32>(0.0);
    var limit = 1.0;
    for (var four = 0u; 4u * four < CORRECTIONS; four++) {
        let amounts = amounts_at(vertex, four);
        for (var k = 0u; k < min(4u, CORRECTIONS - 4u * four); k++) {
            let texel = textureLoad(corrections, position_of(vertex * CORRECTIONS + 4u * four + k), 0);
            total += amounts[k] * bitcast<vec3<f32>>(texel.xyz);
            limit = bitcast<f32>(texel.w);
        }
    }
    return total / max(1.0, length(total) / limit);
}

fn blend_of(vertex: u32) -> Blend {
    if (DUAL) {
        return dual_blend(vertex);
    }
    return linear_blend(vertex);
}

fn posed_point(vertex: u32, blend: Blend) -> vec3<f32> {
    let texel = textureLoad(rest, position_of(vertex), 0);
    var point = bitcast<vec3<f32>>(texel.xyz);
    if (ENTRIES != 0u) {
        point += displaced(texel.w);
    }
    if (CORRECTIONS != 0u) {
        point += corrected(vertex);
    }
    let from_rest = vec4<f32>(point, 1.0);
    return vec3<f32>(dot(blend.x, from_rest), dot(blend.y, from_rest), dot(blend.z, from_rest));
}

// A vector at unit length, of whatever size it is; `otherwise` for one of no length.
fn unit(vector: vec3<f32>, otherwise: vec3<f32>) -> vec3<f32> {
    let size = max(abs(vector.x), max(abs(vector.y), abs(vector.z)));
    if (size > 0.0) {
        return normalize(vector / size);
    }
    return otherwise;
}

// The rest normal carried by the cofactors of the blend, which keep it normal to the surface.
fn carried_normal(vertex: u32, blend: Blend) -> vec3<f32> {
    let texel = textureLoad(rest_normals, position_of(vertex), 0);
    var normal = bitcast<vec3<f32>>(texel.xyz);
    if (CORRECTED) {
        normal += displaced(texel.w);
    }
    let carried = vec3<f32>(
        dot(cross(blend.y.xyz, blend.z.xyz), normal),
        dot(cross(blend.z.xyz, blend.x.xyz), normal),
        dot(cross(blend.x.xyz, blend.y.xyz), normal),
    );
    return unit(carried, normal);
}

fn skinned_point(vertex: u32) -> vec3<f32> {
    return posed_point(vertex, blend_of(vertex));
}

fn skinned(vertex: u32) -> Skinned {
    let blend = blend_of(vertex);
    return Skinned(posed_point(vertex, blend), carried_normal(vertex, blend));
}

fn write_point(vertex: u32, point: vec3<f32>) {
    points[3u * vertex] = point.x;
    points[3u * vertex + 1u] = point.y;
    points[3u * vertex + 2u] = point.z;
}

fn write_normal(vertex: u32, normal: vec3<f32>) {
    normals[3u * vertex] = normal.x;
    normals[3u * vertex + 1u] = normal.y;
    normals[3u * vertex + 2u] = normal.z;
}

// Around a vertex: its centre, the vector to the last neighbour, and the areas of the triangles so far.
struct Walk {
    centre: vec3<f32>,
    arm: vec3<f32>,
    areas: vec3<f32>,
}

fn stepped(walk: Walk, step: u32) -> Walk {
    let point = posed_at(step & (START - 1u));
    let centre = select(walk.centre, point, (step & CENTRE) != 0u);
    let arm = point - centre;
    let area = select(vec3<f32>(0.0), cross(walk.arm, arm), (step & (CENTRE | START)) == 0u);
    return Walk(centre, arm, walk.areas + area);
}

fn posed_at(vertex: u32) -> vec3<f32> {
    return textureLoad(posed, position_of(vertex), 0).xyz;
}

// A row of work groups has no more than a device allows; large meshes have several rows.
fn vertex_of(id: vec3<u32>, groups: vec3<u32>) -> u32 {
    return id.x + id.y * groups.x * GROUP;
}

@compute @workgroup_size(GROUP)
fn write_points(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let vertex = vertex_of(id, groups);
    if (vertex < VERTICES) {
        write_point(vertex, skinned_point(vertex));
    }
}

@compute @workgroup_size(GROUP)
fn write_both(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let vertex = vertex_of(id, groups);
    if (vertex < VERTICES) {
        let posed_vertex = skinned(vertex);
        write_point(vertex, posed_vertex.point);
        write_normal(vertex, posed_vertex.normal);
    }
}

@compute @workgroup_size(GROUP)
fn keep_points(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let vertex = vertex_of(id, groups);
    if (vertex < VERTICES) {
        textureStore(kept, position_of(vertex), vec4<f32>(skinned_point(vertex), 1.0));
    }
}

// Points that were kept, with the normals of their surface: the areas of the triangles around each vertex, added.
@compute @workgroup_size(GROUP)
fn write_surface(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let vertex = vertex_of(id, groups);
    if (vertex >= VERTICES) {
        return;
    }
    var walk = Walk(vec3<f32>(0.0), vec3<f32>(0.0), vec3<f32>(0.0));
    var more = 1u;
    for (var texel = textureLoad(rest_normals, position_of(vertex), 0).w; more != 0u; texel++) {
        let steps = textureLoad(fans, position_of(texel), 0);
        walk = stepped(stepped(stepped(stepped(walk, steps.x), steps.y), steps.z), steps.w);
        more = steps.w >> MORE;
    }
    write_point(vertex, posed_at(vertex));
    write_normal(vertex, unit(walk.areas, vec3<f32>(0.0, 0.0, 1.0)));
}

struct Drawn {
    @builtin(position) position: vec4<f32>,
    @location(0) normal: vec3<f32>,
}

@vertex
fn draw(@builtin(vertex_index) vertex: u32) -> Drawn {
    let posed_vertex = skinned(vertex);
    return Drawn(camera * vec4<f32>(posed_vertex.point, 1.0), posed_vertex.normal);
}

@fragment
fn shade(drawn: Drawn) -> @location(0) vec4<f32> {
    return vec4<f32>(0.5 + 0.5 * normalize(drawn.normal), 1.0);
}
